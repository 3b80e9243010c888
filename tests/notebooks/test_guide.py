"""The instructor's guide (INSTRUCTORS.md and docs/teach) names chapters, minutes and exercises that exist."""

import re

from minigrad.course import exercises
from minigrad.course.grading.reader import LIMITS
from minigrad.course.grading.submissions import MAX_FILE
from tools.store import ROOT
from widgets.chapters import CHAPTERS

PAGES = [ROOT / "INSTRUCTORS.md", *sorted((ROOT / "docs/teach").glob("*.md"))]
GUIDE = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
ROWS = re.findall(r"^\| (\d+) \| (\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", GUIDE, re.M)


def test_every_chapter_has_its_row_and_its_minutes():
    assert [int(row[0]) for row in ROWS] == list(range(1, 20))
    assert [int(row[1]) for row in ROWS] == [CHAPTERS[n].minutes for n in range(1, 20)]


def test_the_exercises_to_grade_exist_in_their_chapters():
    for number, *_, grade in ROWS:
        ids = re.findall(r"\d\d\.[a-z]", grade)
        assert ids and all(id in exercises.chapter(number) for id in ids), grade
    named = set(re.findall(r"(?<![\d.])\d\d\.[a-z]\b", GUIDE))
    assert all(id in exercises for id in named)


def test_the_rubric_adds_up():
    table = GUIDE[GUIDE.index("| part | points |") :]
    points = [int(n) for n in re.findall(r"^\| [^|]+ \| (\d+) \|", table, re.M)]
    assert sum(points) == 10 and points[0] == exercises["19.b"].points


def test_no_line_is_wider_than_a_screen():
    """A row of a table cannot be broken."""
    assert not [line for line in GUIDE.split("\n") if len(line) > 140 and not line.startswith("|")]


PROMISES = {  # what the guide says, word by word, and the tests that show it
    # the exercises
    "Every exercise has one definition: its stub, a solution, probes with weights": "test_exercises: definition_is_complete",
    "`check.reveal` shows them after one try": "test_check: reveal_after_an_honest_try",
    "Three hints come on request": "test_check: hints_come_in_tiers",
    "The number of tries and hints stays on the learner's machine": "test_check: progress_lies_where_the_system_keeps_such_things",
    "Predictions that `check.predict` notes earn no points": "test_exercises: definition_is_complete",
    "optional exercises earn theirs on top": "test_grade: everybody_has_a_row_and_what_they_earned",
    "Nearly all of their inputs are drawn for each student": "test_judge: nearly_all_points_of_code_exercises_are_earned_on_drawn",
    "of their points rest on results that are right only for inputs of that": "test_exercises: instructors_says_which_part_of_the_points",
    "`summary.html` gives the first share for every exercise": "test_grade: summary_counts_mistakes_and_says_what_was_refused",
    "as they were last committed": "test_copy: a_worked_checkout_gives_the_published_notebooks",
    "copies the notebooks into the folder `exam` without the hints and solutions": "test_copy: a_copy_for_an_exam_offers_neither",
    "A probe earns its weight, and each entry of a table its share": "test_judge: each_entry_of_an_answer_earns_its_points",
    "what the untouched stub passes too earns nothing": "test_check: no_points_for_what_the_untouched_stub_passes_too",
    "an idea is earned when all of its": "test_ideas: every_probe_tests_an_idea, the_check_names_what_is_there",
    "Mistakes only add words.": "test_judge: scores_of_odd_forged_and_half_right_outcomes",
    # the three commands
    "The third grades nothing again": "test_grade: the_three_commands",
    "what the answer gave, what is right, and a line that shows it again": "test_grade: feedback_names_probe_and_hint",
    "a folder with one folder for each student, a flat folder, or the zip file that Canvas": "test_grade: layouts",
    "chapters that at least half of the class handed in make up the maximum": "test_grade: a_notebook_of_another_chapter_raises_nobodys",
    "names who is missing, and who is not in the list": "test_grade: the_list_of_students_names_who_is_missing",
    "it reads an export from Canvas or Moodle, or one name per line": "test_grade: the_list_of_students_names_who_is_missing",
    "names the column in the gradebook": "test_grade: the_column_in_the_gradebook_has_a_name",
    "draws new inputs for everybody": "test_worker: inputs_depend_on_key_student_and_round",
    "inputs are drawn for each student and round": "test_worker: inputs_depend_on_key_student_and_round",
    "their code, the points for every probe, and the hint": "test_grade: feedback_names_probe_and_hint",
    "an ungraded, missing or excused student is left empty, not zero": "test_grade: the_instructors_marks, the_list_of_students, lms_files",
    "and so is one of whom something could not be read or judged": "test_gradebook: what_is_partly_damaged, the_instructor_settles_it",
    "Moodle takes no grade above its maximum": "test_gradebook: moodle_gets_no_grade_above_the_maximum",
    "programs that are nearly the same": "test_grade: copies_are_flagged_and_the_obvious_answer_is_not",
    "share most of their unusual lines, in any order and with any names": "test_similar: a_reworked_copy_is_named",
    "notebooks with the same cells and outputs": "test_similar: a_copy_of_a_copied_solution_is_named",
    "those together that give the same results for the published inputs": "test_groups: answers_that_do_the_same_are_together",
    "one line for all who gave the same wrong answer": "test_groups: one_line_is_for_all_of_a_group",
    "a remark for the feedback, without a mark": "test_groups: a_remark_without_a_mark_changes_no_points",
    "A mark above the maximum of its exercise or part is not entered": "test_gradebook: a_mark_above_the_maximum_is_refused",
    "And answers that are the published solution": "test_grade: copies_are_flagged_and_the_obvious_answer_is_not",
    "Similar programs are flagged; nobody is accused.": "test_grade: copies_are_flagged_and_the_obvious_answer_is_not",
    "yours: the grader reads it and never writes into it": "test_grade: the_instructors_marks_are_entered_and_survive",
    "a mark of yours in place of the grader's": "test_grade: the_instructors_marks_are_entered_and_survive",
    "ben counts nowhere": "test_grade: the_instructors_marks_are_entered_and_survive",
    "What is in the journal is not graded twice, and the grades": "test_grade: killed_and_resumed_gives_the_same_bytes",
    "If a run is stopped or killed, or the power goes": "test_grade: the_journal_survives_a_torn_line",
    "the next run grades these last, one at a time": "test_signals: one_killed_run_costs_nobody_anything",
    "A submission during which three runs were killed is left": "test_signals: who_ends_every_run_is_named",
    "so is everybody when minigrad itself, the key or the round changed": "test_grade: only_what_changed",
    "An answer is found by nbgrader's grade id": "test_grade: an_honest_oddity_keeps_its_points",
    "by the name that it defines, in whichever cell": "test_found: an_answer_is_found_wherever_it_was_left",
    "Definitions from other cells that it uses come along": "test_grade: an_honest_oddity_keeps_its_points",
    "later cells that add to it": "test_found: a_class_in_two_cells_is_one_answer",
    "is the course's and never an answer": "test_found: what_the_course_lends_is_no_answer",
    "with full points nothing is said, with less": "test_found: what_is_uncertain_is_for_a_person, a_right_answer_needs_no_remark",
    "in which only names are like the course's is not run": "test_found: a_notebook_of_another_course_is_not_graded",
    "the student comes first under": "test_hand_in: less_than_in_the_notebook_comes_first",
    "the key is part of minigrad": "test_hand_in: a_claim_that_was_altered_is_none",
    "reads the saved notebook with the grader's own reader": "test_hand_in: what_hand_in_finds_is_what_the_grader_finds",
    "The grader takes this file like any other zip file": "test_hand_in: hand_in_says_what_it_found_and_writes_what_the_grader_accepts",
    "is graded on the newest notebook, never on a mixture": "test_whole_class: everybody_gets_what_is_theirs",
    "A zip file belongs to the student in whose folder it is, or whose name it has": "test_grade: a_zip_in_a_flat_folder",
    "No file ends the grading of the class": "test_whole_class: everybody_gets_what_is_theirs_and_nobody_is_forgotten",
    "empty folders, answers in text cells, late marks, second copies": "test_whole_class: everybody_gets, test_grade: what_canvas_says",
    # nbgrader, clusters, containers
    "lets minigrad's limited processes run the answers in place of a kernel": "test_nbgrader: a_hostile_answer_gets_nothing",
    "optional exercises have none and give extra credit": "test_nbgrader: solved_gets_everything, test_gradebook: nbgrader_and_the_batch",
    "Without it, students' code runs in a kernel beside your grades": "test_nbgrader: without_its_preprocessor, without_the_configuration",
    "uses a Dask cluster": "test_grade: through_dask_on_a_local_cluster",
    "runs submissions inside containers too": "test_grade: through_a_container_engine, a_container_engine_that_does_not_start",
    # walls
    "All of it is tried before the first answer": "test_whole_class: every_wall_was_measured_and_holds, test_worker: the_operating_system",
    "A submission that needs more is named, not graded": "test_whole_class: everybody_gets_what_is_theirs",
    "It sees neither expected values nor the": "test_worker: the_kit_holds_no_answer, the_reference_files_cannot_be_read",
    "paths of your folders": "test_whole_class: no_page_and_no_table_names_a_folder_of_this_machine",
    "a forged result must still be right": "test_judge: replacing_what_measures_earns_nothing",
    "`summary.html` counts no such points as fresh": "test_exercises: a_property_that_a_program_could_claim_is_not_counted",
    "An answer may still ask whether a path exists": "test_worker: an_answer_may_ask_about_a_path_and_no_more",
}


def test_what_is_promised_is_tested():
    words = " ".join(GUIDE.split())
    for promise, shown in PROMISES.items():
        assert promise in words, promise
        file = ""
        for part in shown.split(", "):
            named, _, name = part.rpartition(": ")
            file = named or file
            source = (ROOT / f"tests/course/{file}.py").read_text(encoding="utf-8")
            assert f"def test_{name}" in source, part


def test_the_limits_are_those_of_the_program():
    limits = (
        f"{LIMITS.cpu} seconds of processor time, {LIMITS.memory >> 30} GB, and {MAX_FILE >> 20} MB for one notebook"
    )
    assert limits in " ".join(GUIDE.split())
