// FerretDB, which speaks MongoDB's protocol, embedded as its documentation has it: users log in with the mechanism
// PLAIN, and PostgreSQL behind it checks their passwords.
package main

import (
	"context"
	"log"
	"log/slog"
	"os"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	database, err := ferretdb.New(&ferretdb.Config{
		Listener:      ferretdb.ListenerConfig{TCP: os.Args[1]},
		Logger:        slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Handler:       "postgresql",
		PostgreSQLURL: os.Args[2],
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := database.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
