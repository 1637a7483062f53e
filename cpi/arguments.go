package cpi

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// parameter is one positional argument of a method: a field of its arguments
// struct.
type parameter struct {
	name     string
	field    int
	optional bool
	since    int
}

// parameters reads a method's signature off its arguments struct: the fields
// in order, each with a tag `cpi:"name"`. `optional` behind the name lets the
// argument be absent, null or empty, `since=N` makes it part of the API from
// version N on. It panics on a wrong tag, which is a fault in the program.
func parameters(arguments reflect.Type) []parameter {
	var list []parameter
	for i := range arguments.NumField() {
		words := strings.Split(arguments.Field(i).Tag.Get("cpi"), ",")
		p := parameter{name: words[0], field: i}
		if p.name == "" {
			panic(fmt.Sprintf("%s.%s has no cpi tag", arguments, arguments.Field(i).Name))
		}
		for _, word := range words[1:] {
			if version, is := strings.CutPrefix(word, "since="); is {
				p.since, _ = strconv.Atoi(version)
			} else if word == "optional" {
				p.optional = true
			} else {
				panic(fmt.Sprintf("%s.%s: unknown tag %q", arguments, arguments.Field(i).Name, word))
			}
		}
		list = append(list, p)
	}
	return list
}

// decodeArguments fills the arguments struct of a method from the positions of
// a request. Every error is an InvalidCall that names method, position and
// argument, what was expected and what came.
func decodeArguments[A any](method string, version int, sent []json.RawMessage) (A, error) {
	var arguments A
	value := reflect.ValueOf(&arguments).Elem()
	known := parameters(value.Type())
	for len(known) > 0 && known[len(known)-1].since > version {
		known = known[:len(known)-1]
	}
	if err := checkArity(method, known, len(sent)); err != nil {
		return arguments, err
	}
	for i, raw := range sent {
		if err := decodeArgument(known[i], raw, value.Field(known[i].field)); err != nil {
			return arguments, Errorf(InvalidCall, "%s: argument %d (%s): %s", method, i+1, known[i].name, err)
		}
	}
	return arguments, nil
}

func checkArity(method string, known []parameter, sent int) error {
	required := 0
	names := make([]string, len(known))
	for i, p := range known {
		names[i] = p.name
		if !p.optional {
			required = i + 1
		}
	}
	if sent >= required && sent <= len(known) {
		return nil
	}
	count := strconv.Itoa(required)
	if required < len(known) {
		count = fmt.Sprintf("%d to %d", required, len(known))
	}
	return Errorf(InvalidCall, "%s takes %s arguments (%s), got %d", method, count, strings.Join(names, ", "), sent)
}

func decodeArgument(p parameter, raw json.RawMessage, into reflect.Value) error {
	if kindOf(raw) == "null" {
		if p.optional {
			return nil
		}
		return fmt.Errorf("expected %s, got null", expected(into.Type()))
	}
	if err := describe(json.Unmarshal(raw, into.Addr().Interface())); err != nil {
		return err
	}
	if err := checkTexts(into); err != nil {
		return err
	}
	if p.optional {
		return nil
	}
	switch {
	case into.Kind() == reflect.String && into.Len() == 0:
		return fmt.Errorf("expected a string that is not empty")
	case into.CanInt() && into.Int() <= 0:
		return fmt.Errorf("expected a whole number above 0, got %d", into.Int())
	}
	return nil
}

// maxText bounds a string among the arguments, an id or a path: it is repeated
// in errors and in many a line of the log.
const maxText = 4096

// checkTexts checks a string, or a list of them, for what no id or path can be.
func checkTexts(argument reflect.Value) error {
	texts, isList := argument.Interface().([]string)
	if isList && slices.Contains(texts, "") {
		return fmt.Errorf("one of its entries is null or an empty string")
	}
	if argument.Kind() == reflect.String {
		texts = []string{argument.String()}
	}
	for _, text := range texts {
		if len(text) > maxText {
			return fmt.Errorf("expected at most %d bytes, got %d", maxText, len(text))
		}
	}
	return nil
}
