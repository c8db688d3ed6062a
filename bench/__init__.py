"""How long Askback takes, as ratios against the SDK's own ways of asking. Run with `python -m bench`."""
