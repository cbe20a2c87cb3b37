"""The tamis command: starts programs on the library and says what the library can be told."""
