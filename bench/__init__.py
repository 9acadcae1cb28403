"""Measures a node on this machine, side by side with what else could answer: `scripts/bench`.

    documents   4 KiB Descriptors, signed, and homes with as many versions as are asked for
    servers     the node, uvicorn with starlette, the a2a-sdk card route and nginx, each a process of its own
    load        wrk, or the bundled `generator` where there is no wrk
    rounds      who is asked what, again and again, in turns
    showing     what it costs to make the AgentDoc and the pages
    single      what is not a load: start, publish
    report      medians, spreads, ratios, and whether each target is met

The invariant: what is compared was measured in one run, on one core, with the same load. Servers run on one core and
everything else on another; contestants take turns, so that a slow moment of the machine falls on all of them. An answer
is looked at before it is counted, and a request that fails ends the run.
"""
