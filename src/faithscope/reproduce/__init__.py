"""The paper, reproduced: one file a table or figure, each with the printed numbers beside ours."""
