"""Where is it used?: every contribution and every named matrix beside numbers worked out by hand."""

import pytest

from widgets.lessons import uses


def press(lesson, text):
    lesson.press(next(b["name"] for b in lesson.scene["buttons"] if b["label"] == text))
    return lesson.scene["say"]


def test_a_matrix_product_from_its_uses_to_its_name():
    lesson = uses()
    assert len(lesson.scene["buttons"]) == 9
    assert "belongs to w₂₁. w₁₁ is used 2 more times" in press(lesson, "y₁₂: x₁₁ · w₂₁")
    assert "What is it multiplied by" in press(lesson, "y₁₁: x₁₁ · w₁₁")
    assert "Not x₁₂" in press(lesson, "x₁₂") and "contributes g₁₁ · x₁₁" in press(lesson, "x₁₁")
    assert "marked already" in press(lesson, "y₁₁: x₁₁ · w₁₁")
    press(lesson, "y₂₁: x₂₁ · w₁₁")
    assert "add up to 13" in press(lesson, "x₂₁"), 1 * 1 + 4 * 3
    for text in ("y₁₁: x₁₂ · w₁₂", "x₁₂", "y₂₁: x₂₂ · w₁₂"):
        press(lesson, text)
    assert "add up to −2" in press(lesson, "x₂₂") and "Which matrix" in lesson.scene["say"], 1 * 2 + 4 * -1
    for name, entry in (("g xᵀ", "w₁₁"), ("g x", "w₁₁"), ("xᵀ g", "w₁₂")):
        assert f"has the right shape, as every product of square matrices has. But at {entry}" in press(lesson, name)
        assert lesson.scene["mood"] == "bad"
    assert press(lesson, "gᵀ x").startswith("The gradient at W is gᵀ x.") and lesson.scene["mood"] == "good"
    assert "w₂₂: −4.5" in lesson.picture() and [b["label"] for b in lesson.scene["buttons"]] == ["start again"]
    assert "Press every term" in press(lesson, "start again") and "w₂₂: ?" in lesson.picture()


@pytest.mark.parametrize("of, presses, total", [
    ("bias", ["y₁: b", "y₂: b", "y₃: b"], "3"),
    ("convolution", ["y₁: x₁ · k₁", "x₁", "y₂: x₂ · k₁", "x₂", "y₃: x₃ · k₁", "x₃"], "−7"),
])  # fmt: skip
def test_a_bias_and_a_convolution(of, presses, total):
    lesson = uses(of)
    for text in presses:
        said = press(lesson, text)
    assert f"add up to {total}, the gradient at" in said, "1 − 2 + 4, and 1·1 − 2·2 + 4·(−1)"


def test_another_task_gets_a_sentence():
    assert "of is one of 'product', 'bias', 'convolution'" in uses("pool").text()
