"""Groups of commands: each listed with its whole first sentence; for one nobody knows, the one that may be meant.

Source: binding 9.
"""

from __future__ import annotations

from difflib import get_close_matches

import click

_UNCUT = 1000  # characters, more than a sentence has


class Group(click.Group):
    """A group that lists its commands whole, and whose refusal of an unknown one names the nearest."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the commands. Click would cut what goes beyond one line, in the middle of a sentence."""
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, one.get_short_help_str(_UNCUT)) for name, one in commands.items() if one is not None]
            )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named. Raises UsageError, with the nearest name where one is near."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = get_close_matches(args[0], self.list_commands(ctx), n=1)
            if not near or "Did you mean" in error.message:
                raise
            raise click.UsageError(f"{error.message} Did you mean {near[0]!r}?", ctx) from error
