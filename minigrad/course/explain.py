"""For each chapter a question to be answered in two sentences, a good answer, and three weaker ones to compare with.

Nothing is graded: learners tick which ideas their own text has, and instructors find the texts in explanations.html. What does not live
here: when the answers are shown (`check.explain` in checking.py).
"""

from __future__ import annotations

from typing import NamedTuple


class Explain(NamedTuple):
    """A question, the ideas of a good answer, that answer, and three weaker ones with what each of them lacks."""

    question: str
    ideas: tuple[str, ...]
    good: str
    weak: tuple[tuple[str, str], ...]


QUESTIONS: dict[str, Explain] = {
    "01": Explain(
        "Why does nobody train a large model by nudging every weight?",
        ("what one nudge costs", "what one backward pass gives"),
        "A nudge costs a whole run of the program and tells you about a single weight. A backward pass costs a few runs and tells you "
        "about all of them.",
        (("Nudging is inexact.", "True, but an exact nudge would be just as expensive."),
         ("Nudging is an old method.", "It says nothing about the cost."),
         ("h would have to be very small.", "One can choose h well enough. The number of runs is what hurts.")),
    ),
    "02": Explain(
        "Why did `float(h)` cost a weight its gradient?",
        ("a plain number has no history", "no path, no gradient"),
        "A Python number does not know what it was computed from. So no path leads from the loss back to the weight, and backward cannot "
        "reach it.",
        (("float() rounds the number.", "The loss would hardly change by that, and a path would still be there."),
         ("float() is not allowed in PyTorch.", "It is allowed, and that is why no error was raised."),
         ("The weight had requires_grad=False.", "It had True. What was missing was the way to it.")),
    ),
    "03": Explain(
        "There are 2³⁰ paths, and 60 edges are enough. How can both be true?",
        ("contributions are added up at a node", "the sum is passed on once"),
        "Each node adds up what arrives over all paths and passes the sum on once. So the work grows with the number of edges, not with "
        "the number of paths.",
        (("The computer is fast enough.", "2³⁰ products for each number would be too slow for any computer."),
         ("It leaves some paths out.", "None is left out: each of them is in some sum."),
         ("That is the chain rule.", "The chain rule alone gives one product for each path.")),
    ),
    "04": Explain(
        "What does a node need to know to pass its gradient on?",
        ("its own gradient", "the local derivative of each edge", "nothing else"),
        "Its own gradient, and the local derivative with respect to each of its inputs. It needs to know nothing about the rest of the "
        "program.",
        (("The whole graph.", "Then no engine could work node by node."),
         ("The loss.", "The loss has done its part once the gradient has arrived."),
         ("The formula of the function.", "Of its own operation, yes. Of the whole function, no.")),
    ),
    "05": Explain(
        "Why must a node wait until everything that uses it has passed on its gradient?",
        ("the gradient is a sum over all uses", "earlier, only a part is passed on"),
        "Its gradient is the sum of what all its uses contribute. If it went earlier, it would pass on only a part of that sum.",
        (("Because of the topological order.", "That is the name of the order. Why is it needed?"),
         ("Otherwise there is an error.", "There is none: the numbers are simply wrong."),
         ("Because we go from right to left.", "In a picture, perhaps. The order is a property of the graph.")),
    ),
    "06": Explain(
        "Your gradcheck accepts a rule. What can still be wrong?",
        ("the value itself", "other points"),
        "It compares a rule with the values of the same operation, so a wrong value with a fitting rule passes. And it has looked at a "
        "few points only.",
        (("Nothing.", "It cannot see whether the operation computes what its name says."),
         ("The tolerance.", "It decides how small a mistake may be, not which kinds are seen."),
         ("Rounding.", "Rounding makes right rules look wrong rather than the other way round.")),
    ),
    "07": Explain(
        "A forgotten `zero_grad` sometimes helps. Why?",
        ("old gradients are added", "it is momentum that never fades"),
        "The old gradients are added to the new one, which is momentum that never fades. It gains speed while the gradients agree, and "
        "overshoots because it forgets nothing.",
        (("It is a bug, so it cannot help.", "The curve says otherwise."),
         ("The learning rate is larger.", "Only at first, and not in every direction."),
         ("That was luck.", "It happens on every long, gentle slope.")),
    ),
    "08": Explain(
        "Why does `backward` need a v when there are many outputs?",
        ("each output has a gradient of its own", "v says how they are mixed"),
        "Each output has a gradient of its own, a row of the Jacobian. One backward pass computes one weighted sum of the rows, and v "
        "holds the weights.",
        (("Because of the shape.", "The shape follows from what v means."),
         ("v is always a tensor of ones.", "That is one choice: it counts all outputs alike."),
         ("PyTorch demands it.", "Why does it?")),
    ),
    "09": Explain(
        "Why is the gradient of a bias the sum over the rows?",
        ("the same bias is used in every row", "contributions add up"),
        "Broadcasting uses the same bias in every row. Each use contributes to the gradient, and contributions add up.",
        (("So that the shapes fit.", "A mean would fit as well, and so would the first row."),
         ("Because a bias is a vector.", "A weight matrix is used in every row, too, and its gradient is a sum as well."),
         ("It is the mean over the batch.", "It is a sum. Only the loss may contain a division.")),
    ),
    "10": Explain(
        "What does `detach` between two windows cost?",
        ("gradients stop at the cut", "what can no longer be learnt"),
        "Nothing before the cut receives a gradient from anything after it. So the model cannot learn to keep something for longer than a "
        "window.",
        (("Nothing.", "Then one could cut after every step."),
         ("The memory h is lost.", "Its number goes on. Its history ends."),
         ("It makes training slower.", "It makes it faster, and that is why it is done.")),
    ),
    "11": Explain(
        "What does curvature have to do with the learning rate?",
        ("a step can land higher on the other side", "the steepest direction sets the limit"),
        "On a bowl with curvature λ, a rate above 2/λ makes each step land higher on the other side. So the direction with the largest "
        "curvature sets the limit for all of them.",
        (("A small rate is safer.", "True. How small, and why?"),
         ("λ is the slope.", "It says how fast the slope changes."),
         ("The loss is not convex.", "The limit is there for a convex loss, too.")),
    ),
    "12": Explain(
        "When does forward mode need fewer passes than reverse mode?",
        ("one pass for each input", "fewer inputs than outputs"),
        "When there are fewer inputs than outputs. It needs one pass for each input, however many outputs there are.",
        (("Never.", "For three inputs and a thousand outputs it needs three passes, and reverse mode a thousand."),
         ("For small networks.", "The size does not decide. The numbers of inputs and outputs do."),
         ("When memory is short.", "That is an advantage of it, and not what decides about the number of passes.")),
    ),
    "13": Explain(
        "How can a network with 4-bit weights learn at all?",
        ("the true slope is 0", "backward pretends, forward rounds"),
        "The staircase has the slope 0 nearly everywhere. So the backward pass pretends that it is a straight line, while the forward pass "
        "rounds.",
        (("It is trained first, and rounded afterwards.", "Here it was rounded in every step of the training."),
         ("By chance.", "With the true derivative the weights did not move at all."),
         ("4 bits are precise enough.", "For the values, perhaps. Their derivative was the problem.")),
    ),
    "14": Explain(
        "Why is the gradient of cross-entropy at the scores simply p − y?",
        ("a factor p comes from softmax, or from the log of its sum", "the logarithm leaves the difference"),
        "Every entry of the row of softmax's Jacobian that matters contains the probability p of the right class. The derivative of −log p "
        "divides by it, and what is left is the difference. (Or: the loss is the log of a sum minus the right score. The first part has "
        "the gradient p, the second takes away y.)",
        (("By definition.", "It is derived. From what?"),
         ("Because p is a probability.", "That alone gives no derivative."),
         ("Because of the exponential.", "The logarithm has its part in it, too.")),
    ),
    "15": Explain(
        "Why is an error message better than a wrong number?",
        ("it stops at the place", "a wrong number travels"),
        "An error stops the program where something went wrong. A wrong number is carried on into everything that is computed from it, and "
        "nothing says so.",
        (("Errors are always bad.", "The worst programs of this chapter raised none."),
         ("An error is quicker to repair.", "Usually. Why?"),
         ("PyTorch checks everything.", "It checks shapes and versions, not what you meant.")),
    ),
    "16": Explain(
        "What does a checkpoint buy, and what does it cost?",
        ("only the input of a stretch is kept", "the stretch runs once more"),
        "It keeps only the input of a stretch of layers in place of everything inside. It pays with one more forward run of that stretch "
        "during the backward pass.",
        (("It buys memory.", "What does it cost?"),
         ("It saves the model to disk.", "That is another kind of checkpoint."),
         ("It makes training slower.", "By how much, and what for?")),
    ),
    "17": Explain(
        "How can the training loss fall while the held-out loss rises?",
        ("it learns details of its own text", "they occur nowhere else"),
        "The model goes on to learn details of its own text by heart. They do not occur in other text, so there its predictions get "
        "worse.",
        (("The learning rate is too high.", "Then the training loss would suffer, too."),
         ("It was not trained for long enough.", "Longer training makes it worse."),
         ("The held-out text is harder.", "It was just as hard at the start, when its loss still fell.")),
    ),
    "18": Explain(
        "The loss looks fine. Why measure anything else?",
        ("the rest of a network makes up for a fault", "one number cannot say where"),
        "The rest of a network can make up for a broken part, so the loss falls all the same, only not as far. And a single number cannot "
        "say which layer is to blame.",
        (("To be on the safe side.", "What could go wrong without showing in the loss?"),
         ("For the log.", "A log is read when somebody has a question. Which one?"),
         ("Because of nan.", "nan is the one fault that the loss does show.")),
    ),
    "19": Explain(
        "The solver of a fixed point runs a hundred rounds. Why is none of them in the graph?",
        ("the solution satisfies an equation", "how it was found does not matter"),
        "The solution satisfies one equation, and differentiating that equation gives the gradient. How the solution was found does not "
        "matter.",
        (("A hundred nodes would be too slow.", "True as well. But why is the gradient right without them?"),
         ("A solver has no derivative.", "It is made of ordinary operations, so it has one."),
         ("It is detached.", "Then there would be no gradient at all.")),
    ),
}  # fmt: skip
