"""Deletion measures of Quantus and captum beside those here: the same importances, right and wrong in four ways.

    python benchmarks/deletion.py    # needs torch, captum and quantus; kept in results/deletion.txt

A small network predicts who of the sample of Adult earns more than $50,000, categories being numbered; 1,000 rows that
it has not seen are explained by captum's integrated gradients from the mean row, for the class predicted.

beyond random   fs.sufficiency by fs.Alike(3), less that of random features: real rows, the model is not asked
direction       fs.direction of the three largest: each is redrawn from training rows, the model is asked
correlation     Quantus FaithfulnessCorrelation: 4 of 12 features are set to the mean at a time, 50 times per row; the
                correlation of what the probability loses with the sum of their importances, mean over rows that
                have one
flipping        Quantus PixelFlipping: features are set to the mean, the largest first, 3 at a time; the mean of the
                probability that is left, over steps and rows (less is better)
infidelity      captum infidelity: a third of the features, at random, is set to the mean, 50 times per row; the mean
                squared difference of what the probability loses and the sum of their importances (less is better)
"""

import warnings

import numpy as np
import quantus
import torch
from captum.attr import IntegratedGradients
from captum.metrics import infidelity
from numpy.random import default_rng
from sklearn.preprocessing import StandardScaler
from torch import nn

import faithscope as fs
from faithscope.datasets import adult_sample
from ratios import describe_machine, numbers, options, tell


def trained(rows, labels):
    """A network with one hidden layer that answers with probabilities."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(rows.shape[1], 16), nn.ReLU(), nn.Linear(16, 2), nn.Softmax(dim=1))
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    for _ in range(200):
        optimizer.zero_grad()
        nn.functional.nll_loss(network(rows).log(), labels).backward()
        optimizer.step()
    return network.eval()


def of_quantus(measure, network, rows, predicted, importances, **settings):
    """A measure of Quantus: its mean over rows, which are series with one channel to it."""
    known = {"perturb_baseline": 0.0, "disable_warnings": True, "display_progressbar": False, "abs": False}
    asked = measure(**known, normalise=False, **settings)
    answers = asked(
        model=nn.Sequential(nn.Flatten(), network).eval(),
        x_batch=rows.numpy()[:, None],
        y_batch=predicted.numpy(),
        a_batch=importances[:, None].astype(np.float32),
        softmax=False,
        channel_first=True,
    )
    return float(np.nanmean(answers))


def lines():
    """The table, line by line."""
    yield describe_machine(("faithscope", "torch", "captum", "quantus"))
    yield ""
    heads = ("beyond random", "direction", "correlation", "flipping", "infidelity")
    yield f"{'importances':<22}" + "".join(f"{head:>15}" for head in heads)
    adult = adult_sample()
    X, y = numbers(adult.X.drop(columns=["fnlwgt", "education"])), (adult.y == ">50K").astype(int)
    order = default_rng(0).permutation(len(X))
    held, train = order[:1_000], order[1_000:]
    scaler = StandardScaler().fit(X[train])
    known, rows = (torch.tensor(scaler.transform(X[part]), dtype=torch.float32) for part in (train, held))
    network = trained(known, torch.tensor(y[train]))
    predicted = network(rows).argmax(dim=1)
    right = IntegratedGradients(network).attribute(rows, target=predicted).detach().numpy()
    rng = default_rng(1)
    ways = {
        "integrated gradients": right,
        "columns reversed": right[:, ::-1].copy(),
        "signs flipped": -right,
        "of another row": right[rng.permutation(len(right))],
        "random numbers": rng.normal(size=right.shape),
    }

    def probability(given):
        return network(torch.tensor(np.asarray(given), dtype=torch.float32)).detach().numpy()

    def deleted(inputs):
        gone = (torch.rand(inputs.shape) < 1 / 3).float()
        return gone, inputs * (1 - gone)

    for name, importances in ways.items():
        found = fs.sufficiency(importances, predicted.numpy(), rows.numpy(), relation=fs.Alike(3))
        signs = fs.direction(
            importances,
            probability,
            rows.numpy(),
            population=fs.Perturbed(known.numpy(), draws=50),
            class_index="predicted",
        )
        np.random.seed(0)  # noqa: NPY002 - theirs
        torch.manual_seed(0)
        asked = (network, rows, predicted, importances)
        together = of_quantus(quantus.FaithfulnessCorrelation, *asked, nr_runs=50, subset_size=4)
        flipped = of_quantus(quantus.PixelFlipping, *asked, features_in_step=3)
        sums = torch.tensor(importances, dtype=torch.float32)
        off = float(infidelity(network, deleted, rows, sums, target=predicted, n_perturb_samples=50).mean())
        told = "{:+.2f} ({:+.2f} to {:+.2f})".format(*found.beyond_random)
        yield f"{name:<22}{told:>24}{signs.value:>9.2f}{together:>15.2f}{flipped:>15.2f}{off:>15.4f}"


if __name__ == "__main__":
    options(__doc__)
    warnings.filterwarnings("ignore")
    tell(lines(), "deletion.txt")
