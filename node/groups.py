"""Groups of commands that say, of a command nobody knows, which one may be meant.

Source: binding 9.
"""

from __future__ import annotations

from difflib import get_close_matches

import click


class Group(click.Group):
    """A group whose refusal of an unknown command names the nearest one."""

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
