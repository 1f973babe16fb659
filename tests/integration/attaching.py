"""What an editor does to know everything of a session that it comes (back) to, and the judge of whether it does."""


def read_output(editor, execution_id, end=None):
    """The records of an execution from the journal, up to the number `end`, as {seq: output}."""
    records, at = {}, 0
    while end is None or at < end:
        page = editor.request("output/read", {"executionId": execution_id, "fromSeq": at, "maxBytes": 100_000})
        for record in page["records"]:
            assert record["count"] == 1 and "output" in record, record
            if end is None or record["seq"] < end:
                records[record["seq"]] = record["output"]
        if page["nextSeq"] == at or (end is None and page["complete"]):
            break
        at = page["nextSeq"]
    return records


def notified(editor, execution_id):
    """Of an execution, (first number, count, output) of all that was sent."""
    return [(o["seq"], o["count"], o["output"]) for o in editor.received("execute/output")
            if o["executionId"] == execution_id]


def text_of(outputs):
    return "".join(output["text"] for output in outputs if output["output_type"] == "stream")


class Attaching:
    """An editor that comes (back) to a session: what it has to do to know everything."""

    def __init__(self, editor, session_id="default"):
        self.editor = editor
        self.answer = editor.request("session/attach", {"sessionId": session_id})
        self.executions = {each["executionId"]: each for each in self.answer["executions"]}

    def before(self, execution_id):
        return read_output(self.editor, execution_id, self.executions[execution_id]["nextSeq"])

    def whole_text(self, execution_id):
        """Once it has finished. Raises when a record is missing or comes twice."""
        self.wait_finished(execution_id)
        outputs = []
        expected = 0
        known = self.executions.get(execution_id, {"nextSeq": 0})["nextSeq"]
        if known:
            before = self.before(execution_id)
            assert sorted(before) == list(range(known)), (sorted(before)[-3:], known)
            outputs += [before[seq] for seq in range(known)]
            expected = known
        for seq, count, output in notified(self.editor, execution_id):
            assert seq == expected, f"expected record {expected}, found {seq}"
            expected = seq + count
            outputs.append(output)
        assert expected == len(read_output(self.editor, execution_id)), "records at the end are missing"
        return text_of(outputs)

    def wait_finished(self, execution_id):
        if self.executions.get(execution_id, {}).get("state") != "finished":
            self.editor.wait_for("execute/changed",
                                 lambda c: c["executionId"] == execution_id and c["state"] == "finished")
        return self.editor.request("execution/get", {"executionId": execution_id})["result"]
