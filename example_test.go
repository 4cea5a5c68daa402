package ambit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http/httptest"
	"os"

	"ambit"
	"ambit/journal"
	"ambit/provider"
	"ambit/provider/scripted"
	"ambit/view"
)

// An agent with one tool of its own, and those by which it recalls what it has seen. A scripted model stands in for a real one.
func Example() {
	model := httptest.NewServer(scripted.New(scripted.Script{Conversations: []scripted.Conversation{{Turns: []scripted.Turn{
		{Text: "I'll look.", Calls: []scripted.Call{{Name: "weather", Args: map[string]any{"place": "Oslo"}}}},
		{Text: "It rains in Oslo."},
	}}}}))
	defer model.Close()
	dir, err := os.MkdirTemp("", "ambit-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	ctx := context.Background()
	store, err := journal.Open(dir, journal.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	weather := ambit.Tool{
		Tool: view.Tool{Name: "weather", Description: "Says what the weather is like.", Schema: []byte(`{"type":"object","properties":{"place":{"type":"string"}}}`)},
		Run:  func(context.Context, json.RawMessage) (string, error) { return "rain, 4 °C", nil },
	}
	engine := ambit.NewEngine(store, ambit.EngineOptions{})
	session, err := engine.Begin(ctx, "the weather", ambit.Setup{
		Agent: ambit.Agent{Name: "forecaster", Role: "You know the weather.", Tools: append(engine.Recall(), weather)},
		Model: ambit.Model{Provider: "anthropic", Type: provider.TypeMessages, Name: "claude-sonnet-5", BaseURL: model.URL, Output: 4000},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	if _, err := session.Admit(ctx, ambit.Input{Text: "What is the weather in Oslo?"}); err != nil {
		log.Fatal(err)
	}
	out, err := session.Run(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s (%d turns)\n", out.Text, out.Turns)
	// Output: It rains in Oslo. (2 turns)
}
