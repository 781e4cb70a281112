"""What an instructor runs: turns a submission into a grade without trusting it. For Linux; see docs/."""
