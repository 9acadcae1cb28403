"""The `.agent` file format v1 as a pure package: floor 1, beside `descriptor`, without I/O.

`parse` reads a file, or says everything that is wrong with it; `build` writes one. What is named here is what most
callers need; the classes of a file's parts are in `agentfile.model`, and the rest in the modules, one idea each.
"""

from agentfile.builder import build, file_name, members, shareable
from agentfile.findings import AgentFileError, Finding
from agentfile.model import AgentFile
from agentfile.parser import Parsed, parse

__all__ = ["AgentFile", "AgentFileError", "Finding", "Parsed", "build", "file_name", "members", "parse", "shareable"]
