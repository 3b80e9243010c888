"""Grading a class: the instructor's half of the course. Nothing that a learner calls imports it."""
