"""Mistakes of the user, told in plain words."""


class UserError(Exception):
    """Ends the command with a message and an exit code; no traceback."""

    def __init__(self, message, exit_code=2):
        super().__init__(message)
        self.exit_code = exit_code


NO_SUCH_PROGRAM = 127
CANNOT_EXECUTE = 126
