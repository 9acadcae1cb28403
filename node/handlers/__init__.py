"""Handlers: the programs of the operator that do the work of an offering.

    settings     [handlers."<offering id>"]: what stands behind an offering, and its limits
    presented    what a program is told of its job
    launcher     the one process that starts programs: limits, and the end of every process a job began
    processes    that process as the daemon speaks to it
    service      a program that runs already, asked over loopback
    results      what a program answered, as the ending of a job
    behind       an order, done by what stands behind its offering

The invariant: a program is given an order that the boundary has let through, as JSON, and nothing else of ours: no
envelope, no key, no file that is open here, no variable of our environment. However it ends, nothing of it is left.

Source: binding 9 (handlers); 4.8 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations


class Declined(Exception):  # noqa: N818  # an answer and no error: what a Python handler raises to decline an instruction
    """Raised by a Python handler: the instruction is outside the focus of its open-with-focus offering.

    The message is for the caller, who reads it in a refusal (`SCOPE_REFUSED`, `focus`, decided by the model).
    """
