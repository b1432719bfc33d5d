"""Who answers: the backends by name."""

MODELS = {
    "llama_cpp": "daemon.models.llama_cpp:LlamaCpp",
    "openai": "daemon.models.openai:OpenAI",
    "anthropic": "daemon.models.anthropic:Anthropic",
    "scripted": "daemon.models.scripted:Scripted",
}
