"""The built-in strategies, a module each, with what several of them share.

    mf_gp_ucb, gp_ucb               upper confidence bounds: ucb/
    gp_ei, gp_pi                    improvement over an incumbent, at the target: base/improvement.py
    mf_sko, co_kriging              the same under a joint model of all fidelities: base/joint.py
    mf_naive, mf_naive_random       the first fidelity, then the target: _naive.py
    direct                          dividing rectangles: _rectangles.py
    random_search                   the yardstick

What all methods with models go through is in base/cycle.py.
"""
