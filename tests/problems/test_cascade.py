"""Cascades and the problem made of one: a small cascade made here, whose decisions are known; OpenCV's where it is."""

import hashlib
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import mfopt
from mfopt import InputError, problems
from mfopt.errors import DataMissing
from mfopt.problems.cascade import reach, read_cascade
from mfopt.problems.data import CASCADE, DataFile
from mfopt.problems.face_detection import _load, held_out, make_vj, shrink

PACKED = CASCADE._find_packed()
needs_opencv = pytest.mark.skipif(PACKED is None, reason="opencv-python-headless<5 is not installed")
needs_data = pytest.mark.skipif("MFOPT_DATA" not in os.environ, reason="MFOPT_DATA is not set")

# Windows of 6 × 6. Stage 1 asks whether the left half is darker than the right half, stage 2 whether the upper half is
# darker than the lower half and the two rows in the middle brighter than the whole. A rectangle: x, y, width, height.
FEATURES = [
    [(0, 0, 6, 6, -1), (3, 0, 3, 6, 2)],
    [(0, 0, 6, 6, -1), (0, 3, 6, 3, 2)],
    [(0, 0, 6, 6, -1), (0, 2, 6, 1, 3), (0, 3, 6, 1, 3)],
]
STAGES = [(0.5, [(0, 0.0, 0.0, 1.0)]), (1.5, [(1, 0.0, 0.25, 1.0), (2, 0.0, 0.0, 0.75)])]


def as_xml(features=FEATURES, stages=STAGES, size=6, tilted=False, nodes=1):
    """A cascade in OpenCV's format. A stump: feature, split, and what it gives below and above."""
    lines = ['<?xml version="1.0"?><opencv_storage><cascade type_id="opencv-cascade-classifier">']
    lines.append(f"<stageType>BOOST</stageType><featureType>HAAR</featureType><height>{size}</height>")
    lines.append(f"<width>{size}</width><stageParams><maxWeakCount>9</maxWeakCount></stageParams>")
    lines.append("<featureParams><maxCatCount>0</maxCatCount></featureParams>")
    lines.append(f"<stageNum>{len(stages)}</stageNum><stages>")
    for threshold, stumps in stages:
        lines.append(f"<_><maxWeakCount>{len(stumps)}</maxWeakCount><stageThreshold>{threshold}</stageThreshold>")
        lines.append("<weakClassifiers>")
        for feature, split, below, above in stumps:
            node = f"0 -1 {feature} {split} " * nodes
            lines.append(f"<_><internalNodes>{node}</internalNodes><leafValues>{below} {above}</leafValues></_>")
        lines.append("</weakClassifiers></_>")
    lines.append("</stages><features>")
    for rectangles in features:
        inside = "".join(f"<_>{x} {y} {w} {h} {weight}.</_>" for x, y, w, h, weight in rectangles)
        lines.append(f"<_><rects>{inside}</rects><tilted>{int(tilted)}</tilted></_>")
    lines.append("</features></cascade></opencv_storage>")
    return "\n".join(lines)


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "small.xml"
    file.write_text(as_xml())
    return file


def sum_slowly(path, window):
    """The stages' sums of one window, written down anew: pixel by pixel, without integral images."""
    root = ElementTree.parse(path).getroot().find("cascade")
    inside = window[1:-1, 1:-1].astype(float)
    deviation = inside.size * inside.std()
    values = []
    for feature in root.find("features"):
        total = 0.0
        for rectangle in feature.find("rects"):
            x, y, w, h, weight = map(float, rectangle.text.split())
            total += weight * window[int(y) : int(y + h), int(x) : int(x + w)].astype(float).sum()
        values.append(total / deviation)
    sums = []
    for stage in root.find("stages"):
        sums.append(0.0)
        for weak in stage.find("weakClassifiers"):
            _, _, feature, split = map(float, weak.findtext("internalNodes").split())
            below, above = map(float, weak.findtext("leafValues").split())
            sums[-1] += below if values[int(feature)] < split else above
    return sums


def draw(left_dark, upper_dark, middle_bright):
    """A window of which the three questions of the small cascade have these answers."""
    window = np.full((6, 6), 120)
    window[:, 3:] += 40 if left_dark else -40
    window[3:] += 20 if upper_dark else -20
    window[2:4] += 35 if middle_bright else -35
    return window.astype(np.uint8)


ANSWERS = [(a, b, c) for a in (False, True) for b in (False, True) for c in (False, True)]


def test_a_small_cascade_decides_as_it_was_made_to(path):
    cascade = read_cascade(path)
    windows = np.stack([draw(*answers) for answers in ANSWERS])
    expected = [[float(a), (1.0 if b else 0.25) + 0.75 * c] for a, b, c in ANSWERS]
    np.testing.assert_allclose(cascade.add_up(windows), expected)
    assert cascade.thresholds.tolist() == [0.5, 1.5]
    assert cascade.spans.tolist() == [1.0, 1.5]
    assert cascade.detect(windows, cascade.thresholds).tolist() == [all(answers) for answers in ANSWERS]
    assert cascade.detect(windows, np.array([0.5, 1.0])).tolist() == [a and (b or c) for a, b, c in ANSWERS]
    assert cascade.detect(windows, np.array([0.0, 0.0])).all()
    assert not cascade.detect(windows, np.array([1.1, 0.0])).any()


def test_a_flat_window_never_passes(path):
    cascade = read_cascade(path)
    flat = np.full((2, 6, 6), 77, dtype=np.uint8)
    flat[1, :, 3:] += 19  # a deviation of 9.5; at 20 it is 10 and a rounding, at 21 certainly more than 10
    steep = flat[1:] + np.uint8(2) * (flat[1:] > 77)
    assert cascade.add_up(flat).tolist() == [[-np.inf] * 2] * 2
    assert not cascade.detect(flat, np.array([-9.0, -9.0])).any()
    assert cascade.detect(steep, np.array([-9.0, -9.0])).all()


def test_sums_are_those_of_pixel_by_pixel_addition(tmp_path):
    rng = np.random.default_rng(0)
    features = []
    for _ in range(40):
        x, y = rng.integers(0, 6, 2)
        w, h = rng.integers(1, 8 - x + 1), rng.integers(1, 8 - y + 1)
        others = [(int(x), int(y), 1, 1, weight) for weight in rng.choice([2, 3], rng.integers(1, 3))]
        features.append([(int(x), int(y), int(w), int(h), -1), *others])
    stumps = [(k, rng.normal(0, 0.1), rng.random(), rng.random()) for k in range(40)]
    file = tmp_path / "random.xml"
    file.write_text(as_xml(features, [(1.0, stumps[:7]), (2.0, stumps[7:])], size=8))
    windows = rng.integers(0, 256, (31, 8, 8), dtype=np.uint8)
    cascade = read_cascade(file)
    sums = cascade.add_up(windows)
    np.testing.assert_allclose(sums, [sum_slowly(file, window) for window in windows], rtol=1e-6)
    for _ in range(20):  # stage by stage on what is left, and by comparison of all sums
        thresholds = np.quantile(sums, rng.random(), axis=0)
        np.testing.assert_array_equal(cascade.detect(windows, thresholds), reach(sums, thresholds).all(axis=1))


def test_no_windows_are_no_detections(path):
    cascade = read_cascade(path)
    assert cascade.add_up(np.zeros((0, 6, 6), dtype=np.uint8)).shape == (0, 2)
    assert cascade.detect(np.zeros((0, 6, 6), dtype=np.uint8), cascade.thresholds).shape == (0,)


def test_what_is_no_cascade_of_stumps_is_refused(tmp_path, path):
    def read(text):
        file = tmp_path / "wrong.xml"
        file.write_text(text)
        return read_cascade(file)

    with pytest.raises(InputError, match="features must be upright, got a tilted one"):
        read(as_xml(tilted=True))
    with pytest.raises(InputError, match="must be stumps with 1 node, got one with 2"):
        read(as_xml(nodes=2))
    with pytest.raises(InputError, match="must have Haar features, got"):
        read(as_xml().replace("HAAR", "LBP"))
    with pytest.raises(InputError, match="must have stageThreshold in each _, got none"):
        read(as_xml().replace("stageThreshold", "threshold"))
    with pytest.raises(InputError, match=r"grey pixels \(n, 6, 6\) of type uint8, got \(1, 6, 5\) of type uint8"):
        read_cascade(path).add_up(np.zeros((1, 6, 5), dtype=np.uint8))


def test_patches_shrink_to_the_means_of_areas():
    assert shrink(np.array([[[10, 20, 30, 41]] * 2], dtype=np.uint8), 1, 2).tolist() == [[[15, 36]]]
    assert shrink(np.array([[[0, 30, 60]]], dtype=np.uint8), 1, 2).tolist() == [[[10, 50]]]  # (0 + 30/2)/1.5
    patches = np.random.default_rng(0).integers(0, 256, (3, 24, 24), dtype=np.uint8)
    np.testing.assert_array_equal(shrink(patches, 24, 24), patches)
    fine = np.repeat(np.repeat(patches.astype(float), 20, axis=1), 20, axis=2)  # each pixel as 20 × 20
    means = fine.reshape(3, 20, 24, 20, 24).mean(axis=(2, 4))
    assert np.abs(shrink(patches, 20, 20) - means).max() <= 0.5 + 1e-9


@pytest.fixture
def faces(path):
    """The small cascade, and windows of which those with all three answers are the faces, with noise."""
    rng = np.random.default_rng(0)
    answers = rng.integers(0, 2, (400, 3)).astype(bool)
    noise = rng.normal(0, 25, (400, 6, 6))
    windows = np.clip(np.stack([draw(*one) for one in answers]) + noise, 0, 255).astype(np.uint8)
    return read_cascade(path), windows, answers.all(axis=1)


def test_thresholds_are_tuned(faces):
    problem = make_vj(*faces, (40, 400), best=(1.0, 0.5, 1.5))
    assert problem.costs == [40.0, 400.0]
    assert problem.cost is None
    bounds = np.array([problem.domain.decode(np.full((1, 2), end))[0] for end in (0.0, 1.0)])
    np.testing.assert_allclose(bounds, [[0.45, 1.425], [0.55, 1.575]])
    cascade, windows, is_face = faces
    for size, function in zip((40, 400), problem.functions, strict=True):
        found = cascade.detect(windows[:size], np.array([0.5, 1.5]))
        assert function(np.array([0.5, 1.5])) == np.mean(found == is_face[:size])
        assert function(np.array([[0.5, 1.5], [9.0, 9.0]])).tolist()[1] == 1 - is_face[:size].mean()
    result = mfopt.maximize(problem.functions, problem.domain, problem.costs, 4000.0, rng=0)
    assert result.fun >= problem.functions[-1](np.array([0.5, 1.5]))


def test_a_timed_detector_has_the_same_accuracy_and_costs_its_seconds(faces, tmp_path):
    record = str(tmp_path / "record.jsonl")
    plain, timed = (make_vj(*faces, (40, 400), (1.0, 0.5, 1.5), *rest) for rest in ((), (True, record)))
    assert timed.cost == "total-time"
    for x in ([0.5, 1.5], [0.46, 1.5], [0.5, 1.43]):
        for quick, run in zip(plain.functions, timed.functions, strict=True):
            found = run(np.array(x))
            assert found["value"] == quick(np.array(x))
            assert found["cost"] >= 0.0
            assert run(np.array(x)) == found
    with pytest.raises(InputError, match="record must be given with timed=True only, got"):
        make_vj(*faces, (40, 400), (1.0, 0.5, 1.5), record=record)


def test_a_file_is_taken_from_a_package_that_brings_it(tmp_path, monkeypatch):
    packed = tmp_path / "bringing" / "data" / "x.xml"
    packed.parent.mkdir(parents=True)
    (packed.parents[1] / "__init__.py").write_text("raise RuntimeError('imported')")
    packed.write_text("here")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("MFOPT_DATA", str(tmp_path / "none"))
    sha = hashlib.sha256(b"here").hexdigest()
    file = DataFile("x.xml", sha, "somewhere", (tmp_path / "gone").as_uri(), package="bringing", extra="some")
    assert file.find() == packed
    own = tmp_path / "own" / "x.xml"
    own.parent.mkdir()
    own.write_text("here")
    assert file.find(str(own.parent)) == own
    packed.write_text("another version")
    with pytest.raises(DataMissing, match=r"as x\.xml, or install what brings it: pip install 'mfopt\[some\]'"):
        file.find()
    with pytest.raises(DataMissing, match="must be there or be downloaded from"):
        DataFile("x.xml", sha, "somewhere", (tmp_path / "gone").as_uri(), package="not_installed").find()


# OpenCV is asked in a process of its own: it starts threads, which later tests that fork would inherit. A window at the
# edge of an image is not looked at, so each is given a margin on its right and below.
ASK = """
import json, sys
import cv2, numpy as np
windows, found = np.load(sys.argv[1]), []
size = windows.shape[1]
for path in sys.argv[2:]:
    cascade = cv2.CascadeClassifier(path)
    for window in windows:
        given = dict(image=np.pad(window, ((0, 1), (0, 1))), minNeighbors=0, minSize=(size, size), maxSize=(size, size))
        detected = len(cascade.detectMultiScale(**given)) > 0
        _, _, last = cascade.detectMultiScale3(**given, outputRejectLevels=True)
        found.append([detected, float(last[0]) if detected else None])
print(json.dumps(found))
"""


def ask_opencv(cascades, windows, folder):
    """For each cascade and window: whether OpenCV detects it, and the last stage's sum if so."""
    np.save(folder / "windows.npy", windows)
    command = [sys.executable, "-c", ASK, str(folder / "windows.npy"), *map(str, cascades)]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    detected, last = (np.array(column).reshape(len(cascades), len(windows)) for column in zip(*told, strict=True))
    return detected, last


def make_windows(count):
    """Smooth random patches, some symmetric like faces, with all contrasts: from flat to full."""
    rng = np.random.default_rng(0)
    coarse = rng.normal(size=(count, 5, 5))
    coarse[::2] += coarse[::2, :, ::-1]
    fine = np.repeat(np.repeat(coarse, 4, axis=1), 4, axis=2) + 0.3 * rng.normal(size=(count, 20, 20))
    contrast = rng.uniform(2, 60, (count, 1, 1))
    return np.clip(128 + contrast * fine, 0, 255).astype(np.uint8)


@needs_opencv
def test_each_stage_has_the_sums_of_opencv(tmp_path):
    """OpenCV tells the sum of the last stage, so each stage is the only one in turn, with a threshold that all pass."""
    windows = make_windows(60)
    sums = read_cascade(PACKED).add_up(windows)
    flat = np.isinf(sums[:, 0])
    assert 0 < flat.sum() < len(windows) / 2
    files = [tmp_path / f"{k}.xml" for k in range(sums.shape[1])]
    for k, file in enumerate(files):
        tree = ElementTree.parse(PACKED)
        stages = tree.getroot().find("cascade/stages")
        for place, stage in enumerate(list(stages)):
            if place == k:
                stage.find("stageThreshold").text = "-1e3"
            else:
                stages.remove(stage)
        tree.getroot().find("cascade/stageNum").text = "1"
        tree.write(file, xml_declaration=True)
    detected, last = ask_opencv(files, windows, tmp_path)
    np.testing.assert_array_equal(detected, np.tile(~flat, (len(files), 1)))
    np.testing.assert_allclose(last[:, ~flat].T.astype(float), sums[~flat], rtol=1e-12)


@needs_opencv
def test_the_small_cascade_decides_alike_in_opencv(path, tmp_path):
    windows = np.stack([draw(*answers) for answers in ANSWERS])
    (detected,), _ = ask_opencv([path], windows, tmp_path)
    assert detected.tolist() == [all(answers) for answers in ANSWERS]


@needs_opencv
@needs_data
def test_faces_are_detected_as_by_opencv(tmp_path):
    cascade, windows, faces = _load(None)
    some = slice(0, 6000, 5)
    found = cascade.detect(windows[some], cascade.thresholds)
    (detected,), _ = ask_opencv([PACKED], windows[some], tmp_path)
    np.testing.assert_array_equal(detected, found)
    assert found[faces[some]].mean() > 0.85
    assert found[~faces[some]].mean() < 0.02


@needs_opencv
@needs_data
def test_tuned_thresholds_are_better_also_on_patches_that_were_held_out():
    problem, judge, shipped = problems.get("vj"), held_out(), read_cascade(PACKED).thresholds
    assert problem.functions[-1](problem.argmax) == problem.optimum
    assert problem.functions[-1](shipped) == 2840 / 3000
    assert problem.domain.contains(problem.domain.encode(problem.argmax[None])).all()
    assert judge(shipped) == 2826 / 3000
    assert judge(problem.argmax) > judge(shipped) + 0.01


@needs_opencv
@needs_data
def test_a_fidelity_has_half_faces_and_no_patch_is_in_two_sets():
    _, windows, faces = _load(None)
    assert [faces[:size].mean() for size in (300, 3000)] == [0.5, 0.5]
    assert faces[3000:].mean() == 0.5
    seen, kept = ({one.tobytes() for one in part if one.min() < one.max()} for part in (windows[:3000], windows[3000:]))
    assert not seen & kept  # a few others are white all over
