//go:build tools

// Package tools pins the nats command line that the tests and the demo run. `go install <path>@<version>` would ask
// for that one version alone; from a module with its own go.sum the whole build is pinned.
package tools

import _ "github.com/nats-io/natscli/nats"
