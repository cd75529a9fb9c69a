"""Models that explain themselves, and explanations that say nothing, on data that ships with scikit-learn."""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import faithscope as fs


def main() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    train, test, labels, _ = train_test_split(X, y, test_size=0.5, random_state=0)
    tree = DecisionTreeClassifier(max_leaf_nodes=16, random_state=0).fit(train, labels)
    neighbors = KNeighborsClassifier(1).fit(train, labels)
    systems = {
        "decision tree, explained by the path to its leaf": (tree, lambda rows: fs.Rules.from_tree(tree, rows)),
        "1-nearest neighbor, explained by the neighbor": (
            neighbors,
            lambda rows: fs.Prototypes(neighbors.kneighbors(rows, return_distance=False), points=train),
        ),
        "decision tree, explained by a random number": (
            tree,
            lambda rows: np.random.default_rng(0).integers(0, 16, len(rows)),
        ),
    }
    print(f"Breast cancer data, {len(test)} rows the models have not seen.\n")
    for name, (model, explainer) in systems.items():
        evaluation = fs.evaluate(model, explainer, test)
        lines = [name, *str(evaluation).splitlines(), str(fs.plan(evaluation.consistency))]
        print("\n  ".join(lines), end="\n\n")


if __name__ == "__main__":
    main()
