/// Elements of which the least comes first: a binary heap.
struct LeastFirst<Element: Comparable> {
    /// None is less than the one at (its index - 1) / 2.
    private var elements: [Element] = []

    /// The least element; nil if there is none.
    var least: Element? { self.elements.first }

    mutating func insert(_ element: Element) {
        var index = self.elements.count
        self.elements.append(element)
        while index > 0 {
            let parent = (index - 1) / 2
            guard self.elements[index] < self.elements[parent] else { return }
            self.elements.swapAt(index, parent)
            index = parent
        }
    }

    /// Removes the least element; nil if there is none.
    mutating func popLeast() -> Element? {
        guard let last = self.elements.popLast() else { return nil }
        guard let least = self.elements.first else { return last }
        self.elements[0] = last
        var index = 0
        while true {
            let child = self.leastChild(of: index)
            guard let child, self.elements[child] < self.elements[index] else { return least }
            self.elements.swapAt(index, child)
            index = child
        }
    }

    private func leastChild(of index: Int) -> Int? {
        let (left, right) = (2 * index + 1, 2 * index + 2)
        guard left < self.elements.count else { return nil }
        guard right < self.elements.count else { return left }
        return self.elements[right] < self.elements[left] ? right : left
    }
}
