"""The list of commands, and the one place where errors become sentences and exit codes."""

import os
import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError, Parameter

from marginflow import __version__
from marginflow.cli.exit_codes import BAD_INPUT, DONE, INTERRUPTED
from marginflow.cli.options import exactly, worth_showing
from marginflow.cli.provenance import running
from marginflow.errors import InputError

app = App(
    name="marginflow",
    help="Exact, certified KKT points of two-layer ReLU networks, and what the theory of implicit bias says of them.",
    help_epilogue=(
        "Exit codes: 0 done and holds, 1 does not hold, 2 bad input (one sentence, nothing written), 130 interrupted."
        "\n\n"
        "Start with: marginflow demo"
    ),
    help_format="plaintext",
    version=__version__,
    default_parameter=Parameter(converter=exactly, show_default=worth_showing, negative_iterable=()),
    result_action="return_value",
    print_error=False,
    exit_on_error=False,
    help_on_error=False,
    suppress_keyboard_interrupt=False,
)

# What each command does, and an example, in the order of the work. Command `x` is `x` in `marginflow.cli.x`, which is
# imported only when `x` is run: the overview stays quick. `sample` and `sweep` are groups with their own examples.
COMMANDS = {
    "demo": ("Four pictures of what the theory says, on one offline page; less than a minute.", "marginflow demo"),
    "sample": ("Draw data from a law and write them to a file.", ""),
    "convert": (
        "Make data from your own table: labels of any two kinds become -1 and +1.",
        "marginflow convert table.csv --label animal --positive cat --out data.npz",
    ),
    "train": (
        "Train a network by a paper's recipe or by gradient flow, and keep it with its trajectory.",
        "marginflow train data.npz --width 200 --seed 0 --out network.safetensors",
    ),
    "limit": (
        "Find a KKT point of the max-margin problem near where gradient flow goes, and certify it.",
        "marginflow limit data.npz --width 200 --seed 0 --out kkt.safetensors",
    ),
    "certify": (
        "Measure how far a network is from a KKT point, with the best multipliers and Clarke weights there are.",
        "marginflow certify network.safetensors data.npz",
    ),
    "influence": (
        "Leave out every sample or fold, exactly: leave-one-out error and what each sample did, with certificates.",
        "marginflow influence data.npz --width 100 --out influence.html",
    ),
    "unlearn": (
        "Forget samples exactly, and measure how near gradient ascent, fine-tuning or your own network comes to that.",
        "marginflow unlearn data.npz --forget 3 5 --out unlearning.html",
    ),
    "value": (
        "Say what each sample is worth: what is lost on test points without it, by the exact point without it.",
        "marginflow value data.npz test.npz --out values.html",
    ),
    "radius": (
        "Prove how far samples are from the decision boundary, from both sides, and check every proof.",
        "marginflow radius kkt.safetensors data.npz --first 10",
    ),
    "curve": (
        "Compute the certified accuracy: the share of samples that are right and at least epsilon from the boundary.",
        "marginflow curve network.safetensors data.npz --csv curve.csv",
    ),
    "flip": (
        "Find the smallest multiple of one vector that flips the samples, all at once or a share of them.",
        "marginflow flip kkt.safetensors data.npz --direction label-sum dual",
    ),
    "plot": (
        "Draw a network with two inputs: decision regions, the line of every neuron, margins, samples.",
        "marginflow plot kkt.safetensors data.npz --out plane.html",
    ),
    "audit": (
        "Audit your network: is it near a KKT point, what flips it, exact radii, which theorems apply; on one page.",
        "marginflow audit model.pt data.csv --out audit.html",
    ),
    "statements": (
        "List the statements of the papers that can be checked, or show one in full.",
        "marginflow statements VYS22/Thm4.1",
    ),
    "check": (
        "Judge a statement on your network and data or on its built-in example, or all of them.",
        "marginflow check VYS22/Thm4.1 --network kkt.safetensors --data data.npz",
    ),
    "map": (
        "Show where a theorem does not apply, says nothing or says something, on a grid of numbers.",
        "marginflow map VYS22/Thm4.1 --grid d=100:1e6:60log m=2:2000:60log --out map.html",
    ),
    "hunt": (
        "Search for the worst instance of a statement: a counterexample, shrunk and proved, or how tight it is.",
        "marginflow hunt KYS23/PropA.4 --time-limit 60 --out found",
    ),
    "new-paper": (
        "Write a package for the statements of another paper: one statement, its example, control and tests.",
        "marginflow new-paper ABC26",
    ),
    "figure": (
        "Compute a figure of the papers, judge its claim, and write page, rows and pictures; or list them.",
        "marginflow figure VYS22/Fig1a --size smoke",
    ),
    "sweep": ("Run a task on a grid of parameters with several seeds; stop it at any time and go on later.", ""),
    "report": (
        "Make one offline page of results, or of a network and its data; charts also as SVG, PNG and PDF.",
        "marginflow report limit.json radius.json --out page.html --svg charts",
    ),
    "cite": (
        "Print BibTeX of the papers, or of the papers and methods that results stand on.",
        "marginflow cite limit.json",
    ),
    "doctor": ("Say what is installed, how many threads there are and how much disk is free.", "marginflow doctor"),
    "completion": ("Print what a shell needs to complete commands and options.", "marginflow completion bash"),
}
for number, (name, (summary, example)) in enumerate(COMMANDS.items()):
    epilogue = {"help_epilogue": f"Example: {example}"} if example else {}
    module = name.replace("-", "_")
    app.command(f"marginflow.cli.{module}:{module}", name=name, help=summary, sort_key=number, **epilogue)
app.command(
    "marginflow.cli.completion:say_how",
    name="--install-completion",
    help="Say which line lets the shell complete commands; nothing is written.",
    sort_key=len(COMMANDS),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line; return its exit code.

    Examples
    --------
    >>> from marginflow.cli import main
    >>> main(["--version"]) == 0  # doctest: +ELLIPSIS
    0...
    True
    """
    try:
        line = list(sys.argv[1:] if arguments is None else arguments)
        _check_text(line)
        with running(line):
            code = app(line)
        sys.stdout.flush()
    except (InputError, CycloptsError) as error:
        ours = (
            error.__cause__ if isinstance(error.__cause__, InputError) else error
        )  # a sentence of ours needs no frame
        print(f"marginflow: {_one_line(str(ours))}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("marginflow: interrupted; nothing was written.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone (`marginflow ... | head`); there is nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as error:
        # No right to read or write, no space left: nothing that the library could have foreseen.
        where = f" ({error.filename})" if error.filename is not None else ""
        print(f"marginflow: {_one_line(error.strerror or str(error))}{where}.", file=sys.stderr)
        return BAD_INPUT
    except MemoryError:
        print("marginflow: there is not enough memory for this; take fewer samples or neurons.", file=sys.stderr)
        return BAD_INPUT
    return code if isinstance(code, int) else DONE


def _check_text(line: Sequence[str]) -> None:
    """Refuse what no page, table or file name of ours can hold: bytes that are not UTF-8, and zero bytes."""
    for argument in line:
        if "\0" in argument or any("\ud800" <= letter <= "\udfff" for letter in argument):
            raise InputError(f"{argument!a} is not text in UTF-8; rename the file or the column.")


def _one_line(sentence: str) -> str:
    return " ".join(sentence.split())
