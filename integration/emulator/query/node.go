package query

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Node is one element of an XML answer: either text or children. AWS answers
// hold no mixed content and no attributes but the root's default namespace,
// so a Node survives Parse and Encode unharmed.
type Node struct {
	Name     string
	Space    string // default namespace, on a root only
	Text     string
	Children []*Node
}

// Parse reads one XML document.
func Parse(document []byte) (*Node, error) {
	decoder := xml.NewDecoder(bytes.NewReader(document))
	var stack []*Node
	for {
		token, err := decoder.RawToken()
		if errors.Is(err, io.EOF) {
			return nil, errors.New("the XML document ends before its root element does")
		}
		if err != nil {
			return nil, fmt.Errorf("reading XML: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			node := &Node{Name: t.Name.Local, Space: defaultSpace(t.Attr)}
			if len(stack) > 0 {
				stack[len(stack)-1].Append(node)
			}
			stack = append(stack, node)
		case xml.CharData:
			if len(stack) > 0 {
				stack[len(stack)-1].Text += string(t)
			}
		case xml.EndElement:
			if len(stack) == 0 || stack[len(stack)-1].Name != t.Name.Local {
				return nil, fmt.Errorf("reading XML: unexpected </%s>", t.Name.Local)
			}
			closed := stack[len(stack)-1]
			if len(closed.Children) > 0 {
				closed.Text = "" // indentation
			}
			if stack = stack[:len(stack)-1]; len(stack) == 0 {
				return closed, nil
			}
		}
	}
}

func defaultSpace(attributes []xml.Attr) string {
	for _, attribute := range attributes {
		if attribute.Name.Space == "" && attribute.Name.Local == "xmlns" {
			return attribute.Value
		}
	}
	return ""
}

// New returns an element with text.
func New(name, text string) *Node { return &Node{Name: name, Text: text} }

// List returns an element with children.
func List(name string, children ...*Node) *Node { return &Node{Name: name, Children: children} }

// Append adds children at the end.
func (n *Node) Append(children ...*Node) { n.Children = append(n.Children, children...) }

// Child returns the first child of that name, or nil. It is safe on nil, so
// that look-ups can be chained.
func (n *Node) Child(name string) *Node {
	if n == nil {
		return nil
	}
	for _, child := range n.Children {
		if child.Name == name {
			return child
		}
	}
	return nil
}

// Get follows a slash-separated path of first children; nil if it ends early.
func (n *Node) Get(path string) *Node {
	for name := range strings.SplitSeq(path, "/") {
		n = n.Child(name)
	}
	return n
}

// Value is the text at a path, "" if there is no such element.
func (n *Node) Value(path string) string {
	if found := n.Get(path); found != nil {
		return found.Text
	}
	return ""
}

// All returns every element at a path, going into every branch:
// All("reservationSet/item/instancesSet/item") are the instances.
func (n *Node) All(path string) []*Node {
	if n == nil {
		return nil
	}
	name, rest, deeper := strings.Cut(path, "/")
	var found []*Node
	for _, child := range n.Children {
		switch {
		case child.Name != name:
		case deeper:
			found = append(found, child.All(rest)...)
		default:
			found = append(found, child)
		}
	}
	return found
}

// Set gives the element at a path this text, making what is missing on the way.
func (n *Node) Set(path, text string) {
	for name := range strings.SplitSeq(path, "/") {
		child := n.Child(name)
		if child == nil {
			child = New(name, "")
			n.Append(child)
		}
		n = child
	}
	n.Text, n.Children = text, nil
}

// Replace puts node in place of the first child of its name, or appends it.
func (n *Node) Replace(node *Node) {
	for i, child := range n.Children {
		if child.Name == node.Name {
			n.Children[i] = node
			return
		}
	}
	n.Append(node)
}

// Remove drops all children with one of these names.
func (n *Node) Remove(names ...string) {
	n.Filter(func(child *Node) bool {
		for _, name := range names {
			if child.Name == name {
				return false
			}
		}
		return true
	})
}

// Filter keeps the children that keep says yes to.
func (n *Node) Filter(keep func(*Node) bool) {
	if n == nil {
		return
	}
	var kept []*Node
	for _, child := range n.Children {
		if keep(child) {
			kept = append(kept, child)
		}
	}
	n.Children = kept
}

// Encode writes the element as a document.
func (n *Node) Encode() []byte {
	var out bytes.Buffer
	out.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	n.write(&out)
	return out.Bytes()
}

func (n *Node) write(out *bytes.Buffer) {
	out.WriteByte('<')
	out.WriteString(n.Name)
	if n.Space != "" {
		out.WriteString(` xmlns="`)
		_ = xml.EscapeText(out, []byte(n.Space)) // a Buffer does not fail
		out.WriteByte('"')
	}
	if n.Text == "" && len(n.Children) == 0 {
		out.WriteString("/>")
		return
	}
	out.WriteByte('>')
	if n.Text != "" {
		_ = xml.EscapeText(out, []byte(n.Text))
	}
	for _, child := range n.Children {
		child.write(out)
	}
	out.WriteString("</")
	out.WriteString(n.Name)
	out.WriteByte('>')
}
