package main

// heapFloor is memory that is never touched and so never resident. The collector runs when the heap has doubled; with a
// heap of a few MiB that is after a few hundred requests, dozens of times a second.
const heapFloor = 16 << 20
