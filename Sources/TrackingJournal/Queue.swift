// A first-in, first-out queue on an array: the front moves, and the array is trimmed now and then.

/// Elements in order of arrival; removing the first is constant time on average.
struct Queue<Element> {
    private var elements: [Element]
    private var head = 0

    init(_ elements: [Element] = []) { self.elements = elements }

    var first: Element? { self.head < self.elements.count ? self.elements[self.head] : nil }

    /// The last of the elements from the front on that meet a condition without a gap.
    func last(while condition: (Element) -> Bool) -> Element? {
        self.elements[self.head...].prefix(while: condition).last
    }

    mutating func append(_ element: Element) { self.elements.append(element) }

    mutating func removeFirst() {
        self.head += 1
        guard self.head >= 64, self.head * 2 >= self.elements.count else { return }
        self.elements.removeFirst(self.head)
        self.head = 0
    }
}
