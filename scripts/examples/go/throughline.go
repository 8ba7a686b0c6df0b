package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"log"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

type object map[string]any

var session = cmp.Or(os.Getenv("THROUGHLINE_SESSION"), "demo")

// ask gives what a service answers, as far as a T has fields for it. An error says what to do.
func ask[T any](nc *nats.Conn, subject string, request object) T {
	request["session"] = session
	message := must(nc.Request(subject, must(json.Marshal(request)), 10*time.Second))
	type refusal struct {
		Error *struct{ Code, Message string }
	}
	if failed := decode[refusal](message.Data); failed.Error != nil {
		log.Fatalf("%s: %s", failed.Error.Code, failed.Error.Message)
	}
	return decode[T](message.Data)
}

// publish sends a result until it is stored, and gives its sequence. One id per result: it counts once.
func publish(nc *nats.Conn, role, text string) uint64 {
	js, id := must(jetstream.New(nc)), jetstream.WithMsgID(session+":"+rand.Text())
	for pause := 250 * time.Millisecond; ; pause *= 2 {
		ack, err := js.Publish(context.Background(), "dispatch."+session+"."+role, []byte(text), id)
		if err == nil || pause > 10*time.Second {
			return must(ack, err).Sequence
		}
		time.Sleep(pause)
	}
}

func decode[T any](data []byte) T {
	value := new(T)
	return *must(value, json.Unmarshal(data, value))
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
