// Package members reads a client's request body member by member, on its way into the neutral form: what is not understood
// is refused by its name, or listed among the others when nobody took it. chat.Decode and responses.Decode are made of it.
package members
