// One round of an agent with Throughline: take a task, ask for its prompt, ask a model, publish what it returned.
//
//	go get github.com/nats-io/nats.go
//	go run . demo        # NATS_URL and MODEL_URL (a chat completions endpoint) say where
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/nats-io/nats.go"
)

type object map[string]any

// ask fills reply with what a service answers. An error reply has a code, and a message that says what to do.
func ask(nc *nats.Conn, subject string, request object, reply any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	message, err := nc.Request(subject, body, 10*time.Second)
	if err != nil {
		return err
	}
	var failed struct{ Error *struct{ Code, Message string } }
	if err := json.Unmarshal(message.Data, &failed); err != nil {
		return err
	}
	if failed.Error != nil {
		return fmt.Errorf("%s: %s", failed.Error.Code, failed.Error.Message)
	}
	return json.Unmarshal(message.Data, reply)
}

// publish sends a result until it is stored, and gives its sequence. One id per result: it counts once.
func publish(nc *nats.Conn, session, role, text string) (uint64, error) {
	js, err := nc.JetStream()
	if err != nil {
		return 0, err
	}
	random := make([]byte, 16)
	rand.Read(random)
	id := nats.MsgId(fmt.Sprintf("%s:%x", session, random))
	for pause := 250 * time.Millisecond; ; pause *= 2 {
		ack, err := js.Publish("dispatch."+session+"."+role, []byte(text), id)
		if err == nil {
			return ack.Sequence, nil
		}
		if pause > 10*time.Second {
			return 0, err
		}
		time.Sleep(pause)
	}
}

// model gives what the model answers: its text holds the result, which Throughline finds and repairs.
func model(messages json.RawMessage) (string, error) {
	body, err := json.Marshal(object{"model": "any", "messages": messages})
	if err != nil {
		return "", err
	}
	response, err := http.Post(os.Getenv("MODEL_URL"), "application/json", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var answer struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return "", err
	}
	if len(answer.Choices) == 0 {
		return "", fmt.Errorf("the model gave no answer: %s", response.Status)
	}
	return answer.Choices[0].Message.Content, nil
}

func round(nc *nats.Conn, session string) error {
	var next struct{ Task *struct{ ID, Content string } }
	if err := ask(nc, "tool.task-next", object{"session": session, "claim": "agent-go"}, &next); err != nil {
		return err
	}
	if next.Task == nil {
		fmt.Println("no task is ready")
		return nil
	}
	task := next.Task
	var prompt struct{ Messages json.RawMessage }
	request := object{"session": session, "taskId": task.ID, "taskPrompt": task.Content}
	if err := ask(nc, "prompt.compile", request, &prompt); err != nil {
		return err
	}
	answer, err := model(prompt.Messages)
	if err != nil {
		return err
	}
	sequence, err := publish(nc, session, "implementer", answer)
	if err != nil {
		return err
	}
	var result struct {
		Status, Reason string
		Facts          []any
	}
	if err := ask(nc, "tool.dispatch-show", object{"session": session, "dispatch": sequence}, &result); err != nil {
		return err
	}
	if result.Status == "rejected" {
		fmt.Printf("%s: %s\n", task.ID, result.Reason)
		return nil
	}
	done := object{"session": session, "id": task.ID, "status": "completed"}
	fmt.Printf("%s: %s, %d facts\n", task.ID, result.Status, len(result.Facts))
	return ask(nc, "tool.task-status", done, &object{})
}

func main() {
	session := "demo"
	if len(os.Args) > 1 {
		session = os.Args[1]
	}
	url := os.Getenv("NATS_URL")
	if url == "" {
		url = nats.DefaultURL
	}
	nc, err := nats.Connect(url)
	if err != nil {
		log.Fatal(err)
	}
	defer nc.Close()
	if err := round(nc, session); err != nil {
		log.Fatal(err)
	}
}
