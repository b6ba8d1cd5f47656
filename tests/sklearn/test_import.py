"""scikit-learn is no hard dependency."""

import subprocess
import sys


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_mfopt_does_not_load_scikit_learn():
    assert run("import sys, mfopt, mfopt.cli; assert 'sklearn' not in sys.modules").returncode == 0


def test_without_scikit_learn_the_error_says_what_to_install():
    done = run("import sys; sys.modules['sklearn'] = None; import mfopt.sklearn")
    assert done.returncode == 1
    assert "ImportError: mfopt.sklearn needs scikit-learn: pip install 'mfopt[sklearn]'" in done.stderr
