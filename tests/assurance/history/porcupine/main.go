// Reads histories of one register from standard input, a JSON list of lists of operations, and prints for each whether
// Porcupine finds an order that the promises allow. The operations are those of brute.py.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/anishathalye/porcupine"
)

type operation struct {
	Call    int64  `json:"call"`
	Back    int64  `json:"back"`
	Process int    `json:"process"`
	Turn    int    `json:"turn"`
	Writes  *int   `json:"writes"`
	Reads   *int   `json:"reads"`
	After   [2]int `json:"after"`
}

// The register's value, and how many steps each process has done.
type state struct {
	value int
	done  [8]int
}

const nothing = -1000

var model = porcupine.Model{
	Init: func() interface{} { return state{value: nothing} },
	Step: func(before interface{}, input interface{}, _ interface{}) (bool, interface{}) {
		now, step := before.(state), input.(operation)
		if now.done[step.Process] != step.Turn || now.done[step.After[0]] < step.After[1] {
			return false, now
		}
		if step.Reads != nil && *step.Reads != now.value {
			return false, now
		}
		if step.Writes != nil {
			now.value = *step.Writes
		}
		now.done[step.Process]++
		return true, now
	},
}

func main() {
	var histories [][]operation
	if err := json.NewDecoder(os.Stdin).Decode(&histories); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	verdicts := make([]bool, 0, len(histories))
	for _, history := range histories {
		operations := make([]porcupine.Operation, 0, len(history))
		for client, each := range history {
			// Each is a client of its own: the bound lets reads of a process begin before the one before them ends.
			operations = append(operations, porcupine.Operation{
				ClientId: client, Input: each, Call: each.Call, Output: nil, Return: each.Back,
			})
		}
		verdicts = append(verdicts, porcupine.CheckOperations(model, operations))
	}
	if err := json.NewEncoder(os.Stdout).Encode(verdicts); err != nil {
		os.Exit(1)
	}
}
