"""The loops of an exported script, as source: how it asks until there is an answer."""

from __future__ import annotations

from studio.core.models.base import ProtocolName

PLAIN_RUN = '''
def run(values, client=None, show=None):
    """Ask the model; returns its answer."""
    return ask(client or make_client(), build_messages(values), show).content or ""
'''

NATIVE_RUN = '''
def run(values, client=None, show=None):
    """Ask, run the tools that the model calls, and ask again until it answers."""
    client = client or make_client()
    messages = build_messages(values)
    for _ in range(MOST_CALLS):
        message = ask(client, messages, show, tools=TOOLS)
        if not message.tool_calls:
            return message.content or ""
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            answer = call_tool(call.function.name, call.function.arguments, values)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": answer})
    raise SystemExit(f"No answer after {MOST_CALLS} calls of the model.")
'''

READ_OBJECT = '''
def read_object(text, start):
    """The first JSON object from a place on; None where there is none."""
    at = text.find("{", start)
    while at >= 0:
        try:
            value = json.JSONDecoder().raw_decode(text, at)[0]
            return value if isinstance(value, dict) else None
        except ValueError:
            at = text.find("{", at + 1)
    return None
'''

SUPPLY = '''
def supplied(values):
    """What the loop puts into the template beside the inputs."""
    asked = str(values.get(QUESTION) or "")
    return {**SUPPLIED, **{key: asked.join(texts) for key, texts in AROUND.items()}}
'''

REACT_RUN = '''
def run(values, client=None, show=None):
    """Show the model its steps so far, until it gives a final answer."""
    client = client or make_client()
    history = []
    notes = []
    for _ in range(MOST_CALLS):
        pad = "\\n".join(
            f"Thought: {row['thought']}\\nAction: {row['action']}\\n"
            f"Args: {json.dumps(row['arguments'])}\\nObservation: {row['observation']}"
            for row in history
        )
        shown = history if HISTORY_IS_LIST else pad
        known = {**supplied(values), **values, "history": shown, "agent_scratchpad": pad}
        text = ask(client, build_messages(known) + notes, show).content or ""
        action = re.search(r"^[ \\t*]*Action:[ \\t*]*(.+?)[ \\t*]*$", text, re.MULTILINE)
        final = re.search(r"^[ \\t*]*Final Answer:[ \\t*]*(.*)", text, re.MULTILINE | re.DOTALL)
        if final and not (action and action.start() < final.start()):
            return final[1].strip()
        arguments = read_object(text, action.end()) if action else None
        if arguments is None:
            told = "Error: Write one Thought and one Action with Args, or a Final Answer."
            told = f"Observation: {told}"
            notes = [{"role": "assistant", "content": text}, {"role": "user", "content": told}]
            continue
        notes = []
        before = text[: action.start()]
        thought = re.search(r"Thought:\\s*(.*?)\\s*\\Z", before, re.DOTALL)
        name = action[1].strip("`\\"' ")
        history.append({
            "thought": thought[1] if thought else "",
            "action": name,
            "arguments": arguments,
            "observation": call_tool(name, arguments, values),
        })
    raise SystemExit(f"No answer after {MOST_CALLS} calls of the model.")
'''

JSON_RUN = '''
def run(values, client=None, show=None):
    """Show the model its actions so far, until its action is the final answer."""
    client = client or make_client()
    blocks = []
    for _ in range(MOST_CALLS):
        known = {**supplied(values), **values, "agent_scratchpad": "\\n\\n".join(blocks)}
        text = ask(client, build_messages(known), show).content or ""
        step = read_object(text, 0)
        if step is None or "action" not in step:
            told = 'Error: Write one JSON object with "action" and "action_input".'
            blocks += [text, fenced({"action_output": told})]
            continue
        name, given = step["action"], step.get("action_input")
        if re.sub(r"[\\W_]", "", str(name)).lower() in FINAL_WORDS:
            return given if isinstance(given, str) else json.dumps(given)
        arguments = given if isinstance(given, dict) else only_argument(name, given)
        answer = call_tool(name, arguments, values)
        blocks.append(fenced({"action": name, "action_input": given}))
        blocks.append(fenced({"action_output": answer}))
    raise SystemExit(f"No answer after {MOST_CALLS} calls of the model.")


def fenced(value):
    """A block of JSON."""
    return f"```json\\n{json.dumps(value, ensure_ascii=False)}\\n```"


def only_argument(name, given):
    """A bare value as the only argument of a tool."""
    for tool in TOOLS:
        properties = list(tool["function"].get("parameters", {}).get("properties", {}))
        if tool["function"]["name"] == name and len(properties) == 1 and given is not None:
            return {properties[0]: given}
    return {}
'''

RUNS: dict[ProtocolName, tuple[str, ...]] = {
    "native": (NATIVE_RUN,),
    "react": (SUPPLY, REACT_RUN, READ_OBJECT),
    "json_action": (SUPPLY, JSON_RUN, READ_OBJECT),
}
"""What each protocol's loop is made of."""
