package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
)

var recall = json.RawMessage(`{"type": "function", "function": {"name": "recall",
	"description": "Facts that earlier agents left, by one or two words that stand in them.",
	"parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}}}`)

type said struct {
	Content   string
	ToolCalls []struct {
		ID       string
		Function struct{ Arguments string }
	} `json:"tool_calls"`
}

// complete gives the next message of the model, from any endpoint for chat completions.
func complete(messages []any) json.RawMessage {
	body := object{"model": cmp.Or(os.Getenv("OPENAI_MODEL"), "any"), "messages": messages, "tools": []any{recall}}
	url := os.Getenv("OPENAI_BASE_URL") + "/chat/completions"
	request := must(http.NewRequest("POST", url, bytes.NewReader(must(json.Marshal(body)))))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+os.Getenv("OPENAI_API_KEY"))
	response := must(http.DefaultClient.Do(request))
	answer := must(io.ReadAll(response.Body))
	if response.StatusCode != http.StatusOK {
		log.Fatalf("the model gave no answer: %s %s", response.Status, answer)
	}
	return decode[struct {
		Choices []struct{ Message json.RawMessage }
	}](answer).Choices[0].Message
}
