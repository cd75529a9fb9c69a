"""The paper, reproduced: one file per table or figure, each with the printed numbers beside ours."""
