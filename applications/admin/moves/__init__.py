"""Moving applications to a stage: form, confirmation, result, undo."""
