"""How far a measure moves when the weights move: ranges that are true, and where they are reached."""
