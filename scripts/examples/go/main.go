// One task with Throughline: claim it, get its prompt, let a model work, publish the result, read the next prompt.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/nats-io/nats.go"
)

type facts struct {
	Status string
	Facts  []any
}

type prompt struct {
	Prompt   string
	Messages []any
}

func main() {
	url := os.Getenv("NATS_URL")
	if url == "" {
		log.Fatal(`set NATS_URL to the address that "throughline up" prints`)
	}
	nc := must(nats.Connect(url, nats.Token(os.Getenv("NATS_TOKEN"))))
	defer nc.Close()
	task := ask[struct{ Task *struct{ ID, Content string } }](nc, "tool.task-next", object{"claim": "go"}).Task
	if task == nil {
		log.Fatalf("no task is ready: throughline task add \"…\" --session %s", session)
	}
	fmt.Printf("%s: %s\n", task.ID, task.Content)
	about := object{"taskId": task.ID, "taskPrompt": task.Content, "include": []string{"messages"}}
	first := ask[prompt](nc, "prompt.compile", about)
	// The text as the model returned it: Throughline finds the result in it, and repairs it.
	dispatch := publish(nc, "implementer", work(nc, first.Messages))
	result := ask[facts](nc, "tool.dispatch-show", object{"dispatch": dispatch})
	fmt.Printf("result %d: %s, %d facts\n", dispatch, result.Status, len(result.Facts))
	review := object{"taskId": task.ID, "taskPrompt": task.Content, "role": "reviewer", "after": dispatch}
	fmt.Println(ask[prompt](nc, "prompt.compile", review).Prompt)
}

// work answers what the model wants to know until it has no more questions, and gives its last text.
func work(nc *nats.Conn, messages []any) string {
	for {
		message := complete(messages)
		said := decode[said](message)
		if len(said.ToolCalls) == 0 {
			return said.Content
		}
		messages = append(messages, message)
		for _, call := range said.ToolCalls {
			query := decode[struct{ Query string }]([]byte(call.Function.Arguments)).Query
			found := ask[facts](nc, "tool.fact-find", object{"text": query}).Facts
			fmt.Printf("recall %s: %d found\n", query, len(found))
			text := string(must(json.Marshal(found)))
			messages = append(messages, object{"role": "tool", "tool_call_id": call.ID, "content": text})
		}
	}
}
