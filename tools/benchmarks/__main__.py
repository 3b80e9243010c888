"""`python -m tools.benchmarks`: see run.py; `python -m tools.benchmarks view`: see view.py."""

import sys

if sys.argv[1:2] == ["view"]:
    from .view import main

    main(sys.argv[2:])
else:
    from .run import main as run

    run()
