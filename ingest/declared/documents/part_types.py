"""Which types of parts there are, as OpenAI, Anthropic and chat templates call them, and what columns take of each."""

from collections.abc import Mapping
from typing import TypeAlias

KIND_OF_TYPE: Mapping[str, str] = {
    "text": "text",
    "input_text": "text",
    "output_text": "text",
    "image": "uri",
    "image_url": "uri",
    "input_image": "uri",
    "video": "uri",
    "video_url": "uri",
    "audio": "uri",
    "audio_url": "uri",
    "input_audio": "blob",
    "file": "file",
    "input_file": "file",
    "document": "file",
    "refusal": "refusal",
    "reasoning": "reasoning",
    "thinking": "reasoning",
    "redacted_thinking": "reasoning",
    "function": "tool_call",
    "tool_call": "tool_call",
    "tool_use": "tool_call",
    "tool_call_response": "tool_call_response",
    "tool_result": "tool_call_response",
}
"""Type of a part -> kind."""

Hole: TypeAlias = "str | Mapping[str, str]"

ADDRESS = {"url": "uri"}
"""What a column takes of an object with an address; the file may also have the address itself there."""

COLUMNS: Mapping[str, Mapping[str, Hole]] = {
    "text": {"text": "text", "value": "text", "content": "text"},
    "refusal": {"refusal": "text", "text": "text"},
    "reasoning": {"reasoning": "text", "thinking": "text", "text": "text", "content": "text"},
    "tool_call": {
        "function": {"name": "name", "arguments": "arguments"},
        "custom": {"name": "name", "input": "text"},
        "id": "call_id",
        "name": "name",
        "arguments": "arguments",
        "input": "arguments",
    },
    "tool_call_response": {
        "tool_use_id": "call_id",
        "id": "call_id",
        "name": "name",
        "content": "text",
        "response": "text",
    },
    "uri": {
        "image_url": ADDRESS,
        "video_url": ADDRESS,
        "audio_url": ADDRESS,
        "image": ADDRESS,
        "video": ADDRESS,
        "audio": ADDRESS,
        "url": "uri",
        "uri": "uri",
        "source": {"url": "uri", "media_type": "mime_type"},
        "mime_type": "mime_type",
    },
    "blob": {"mime_type": "mime_type", "transcript": "text"},
    "file": {
        "file": {"filename": "name"},
        "filename": "name",
        "file_url": "uri",
        "source": {"url": "uri", "media_type": "mime_type"},
        "mime_type": "mime_type",
    },
}
"""Kind -> which columns take which members; of two members for one column the one that is named first."""
