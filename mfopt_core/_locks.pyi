# No Python-level names: the module serves the other extensions.
