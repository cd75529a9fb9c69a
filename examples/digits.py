"""Are the attribution maps of a small CNN faithful? Digits of 8 x 8 pixels, explained by captum, with a report.

    pip install faithscope torch captum
    python examples/digits.py report.html

Two maps of 64 numbers are hardly ever equal, so that nothing could be checked. Maps are therefore pooled into a grid of
regions, and of these only the largest are kept.
"""

import sys
from pathlib import Path

import torch
from captum.attr import IntegratedGradients, Saliency
from sklearn.datasets import load_digits
from torch import nn

import faithscope as fs


def trained(images: torch.Tensor, labels: torch.Tensor) -> nn.Module:
    """A CNN that takes about two seconds to learn."""
    torch.manual_seed(0)
    cnn = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 4 * 4, 10)
    )
    optimizer = torch.optim.Adam(cnn.parameters(), lr=0.01)
    for _ in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(cnn(images), labels).backward()
        optimizer.step()
    return cnn


def main(report: Path) -> None:
    pixels, digits = load_digits(return_X_y=True)
    X, y = torch.tensor(pixels / 16, dtype=torch.float32).reshape(-1, 1, 8, 8), torch.tensor(digits)
    cnn = trained(X[:800], y[:800])
    rows = X[800:]  # rows that the model has not seen
    predictions = cnn(rows).argmax(1)
    maps = {
        "integrated gradients": IntegratedGradients(cnn).attribute(rows, target=predictions),
        "saliency": Saliency(cnn).attribute(rows.clone().requires_grad_(), target=predictions),
    }
    discretizer = fs.Pool((4, 4)) | fs.SignOfTop(3)
    comparison = fs.compare(predictions, maps, rows, discretizer=discretizer)
    print(comparison.table()[["explainer", "value", "low", "high", "unverifiable", "distinct"]].to_string(index=False))
    comparison.to_html(report)
    print(f"Maps that contradict themselves are drawn in {report}.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "digits.html"))
