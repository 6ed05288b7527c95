"""The command's entry: from here on, a request to stop is answered in one sentence.

The answer is given by a signal handler and not by an exception, because an exception that is raised
while a library's own callbacks run can be swallowed there. Nothing heavy is imported before it
stands.
"""

from __future__ import annotations

import os
from typing import NoReturn

from understudy.support.files import remove_unfinished
from understudy.support.stopping import left_behind, on_request_to_stop


def main() -> NoReturn:
    """Run the command line and leave with the documented exit code."""
    on_request_to_stop(_stop)
    from understudy import cli

    cli.main()


def _stop(number: int, frame: object) -> NoReturn:
    remove_unfinished()
    os.write(2, f"understudy: interrupted; {left_behind()}.\n".encode())
    os._exit(2)


if __name__ == "__main__":
    main()
