package cpi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

var objectType = reflect.TypeFor[Object]()

// describe rewrites an error of encoding/json for people: what key, what was
// expected, what came. encoding/json names Go types and struct fields.
func describe(err error) error {
	var mismatch *json.UnmarshalTypeError
	if !errors.As(err, &mismatch) {
		return err
	}
	text := fmt.Sprintf("expected %s, got %s", expected(mismatch.Type), article(mismatch.Value))
	if mismatch.Field != "" {
		return fmt.Errorf("%s: %s", keys(mismatch.Field), text)
	}
	return errors.New(text)
}

// keys leaves embedded structs out of a path, where encoding/json names them by
// their Go types: in JSON they have no key.
func keys(path string) string {
	isType := func(segment string) bool { return segment != "" && unicode.IsUpper(rune(segment[0])) }
	return strings.Join(slices.DeleteFunc(strings.Split(path, "."), isType), ".")
}

// expected names a Go type as JSON's users know it.
func expected(t reflect.Type) string {
	if t == objectType {
		return "an object"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return expected(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	default:
		return "an object"
	}
}

// article puts what encoding/json calls a value ("number 1.5", "array") into
// words. The value itself is left out: it may be a secret.
func article(value string) string {
	word, _, fraction := bytes.Cut([]byte(value), []byte(" "))
	switch {
	case string(word) == "number" && fraction:
		return "another number"
	case string(word) == "bool":
		return "true or false"
	case string(word) == "array":
		return "a list"
	case string(word) == "object":
		return "an object"
	case string(word) == "null":
		return "null"
	default:
		return "a " + string(word)
	}
}

// kindOf names the kind of a JSON value in encoding/json's words.
func kindOf(data []byte) string {
	trimmed := bytes.TrimLeft(data, " \t\r\n")
	if len(trimmed) == 0 {
		return "nothing"
	}
	switch trimmed[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "bool"
	case 'n':
		return "null"
	default:
		return "number"
	}
}
