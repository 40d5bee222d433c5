"""Evaluations of the agent skill: tasks, a network for each task, and checks of the results."""

from skill_evaluation.evaluation import Evaluation, Result, evaluate, evaluations
from skill_evaluation.stage import Stage

__all__ = ["Evaluation", "Result", "Stage", "evaluate", "evaluations"]
