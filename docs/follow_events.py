"""Follows a node's events with httpx alone, and resumes where it was: python follow_events.py URL [AFTER]"""

import json
import sys
import time

import httpx

url, after = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
while True:
    headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": after} if after is not None else {})
    try:
        with httpx.stream("GET", f"{url}/events", headers=headers, timeout=httpx.Timeout(5, read=45)) as response:
            fields: dict[str, str] = {}
            for line in response.iter_lines():
                name, _, value = line.partition(": ")
                if line:
                    fields[name] = value
                elif "data" in fields:
                    payload = json.loads(fields["data"]).get("payload", {})
                    print(
                        fields["id"], fields["event"], payload.get("agent_version"), payload.get("digest"), flush=True
                    )
                    after, fields = fields["id"], {}
    except httpx.HTTPError:
        time.sleep(0.2)  # the node is away; what it announced meanwhile comes when it is back
