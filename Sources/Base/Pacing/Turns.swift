/// Elements that wait for something scarce, and get it in turns: by tenant, and then by stream,
/// each its part by the elements' costs. Within a stream the first one comes first. A value: its
/// owner locks it.
///
/// The turn is that of the line which would be served first if all lines were served at once, each
/// with the same part of the whole (weighted fair queueing; Demers, Keshav and Shenker, 1989). So a
/// small element of a line that was empty goes before the large ones of others, whatever waits in
/// their lines, and no line waits for ever. A lone stream has all turns. A turn costs about the
/// logarithm of the number of lines.
package struct Turns<Element> {
    private var tenants = Lines<[UInt8], Lines<ObjectIdentifier, FirstComeLine<Element>>>()

    /// Creates turns for which nothing waits.
    package init() {}

    /// Whether nothing waits.
    package var isEmpty: Bool { self.tenants.isEmpty }

    /// Puts an element at the end of a line.
    ///
    /// - Parameter cost: what the element takes of what it waits for; at least 1.
    package mutating func append(_ element: Element, in line: TurnLine, cost: Int) {
        self.tenants.withLine(line.tenant) { streams in
            streams.withLine(line.stream) { $0.append(element, cost: max(1, cost)) }
        }
    }

    /// Removes the element whose turn it is; nil if nothing waits.
    package mutating func popFirst() -> Element? { self.tenants.popFirst()?.element }
}

/// What elements wait in.
protocol WaitingLine {
    associatedtype Element

    /// Creates an empty line.
    init()

    /// The cost of the element that `popFirst` would return; nil if the line is empty.
    var nextCost: Int? { get }

    mutating func popFirst() -> (element: Element, cost: Int)?
}

/// Elements in the order in which they came.
struct FirstComeLine<Element>: WaitingLine {
    /// The first ones, the very first one last, and those that came later.
    private var first: [(element: Element, cost: Int)] = []
    private var later: [(element: Element, cost: Int)] = []

    var nextCost: Int? { (self.first.last ?? self.later.first)?.cost }

    mutating func append(_ element: Element, cost: Int) { self.later.append((element, cost)) }

    mutating func popFirst() -> (element: Element, cost: Int)? {
        if self.first.isEmpty {
            self.first = self.later.reversed()
            self.later = []
        }
        return self.first.popLast()
    }
}

/// Lines that have turns.
private struct Lines<Key: Hashable, Line: WaitingLine>: WaitingLine {
    typealias Element = Line.Element

    /// Those in which something waits.
    private var lines: [Key: Line] = [:]
    /// The place of each, the next turn's first.
    private var places = LeastFirst<Place<Key>>()
    /// What each line would have been served since the first one came, if all were served at once.
    private var time = 0
    /// What was left of the division by which the time goes on: small costs of many lines.
    private var remainder = 0
    private var lastNumber: UInt64 = 0

    var isEmpty: Bool { self.lines.isEmpty }
    var nextCost: Int? { self.places.least?.cost }

    /// Lets an element be appended to a line.
    mutating func withLine(_ key: Key, _ append: (inout Line) -> Void) {
        let isNew = self.lines[key] == nil
        append(&self.lines[key, default: Line()])
        if isNew { self.place(key, from: self.time) }
    }

    mutating func popFirst() -> (element: Element, cost: Int)? {
        guard let place = self.places.popLeast(),
            let served = self.lines[place.key]?.popFirst()
        else { return nil }
        let (step, remainder) = (served.cost &+ self.remainder)
            .quotientAndRemainder(dividingBy: self.lines.count)
        (self.time, self.remainder) = (self.time &+ step, remainder)
        if self.lines[place.key]?.nextCost == nil {
            self.lines[place.key] = nil
        } else {
            self.place(place.key, from: place.start &+ served.cost)
        }
        if self.lines.isEmpty { (self.time, self.remainder) = (0, 0) }
        return served
    }

    private mutating func place(_ key: Key, from start: Int) {
        guard let cost = self.lines[key]?.nextCost else { return }
        self.lastNumber &+= 1
        self.places.insert(Place(key: key, start: start, cost: cost, number: self.lastNumber))
    }
}

/// A line's place among others.
private struct Place<Key: Hashable>: Comparable {
    let key: Key
    /// The time at which its next element would begin to be served, and what that costs.
    let start: Int
    let cost: Int
    /// In the order in which places were taken.
    let number: UInt64

    static func == (one: Self, other: Self) -> Bool { one.number == other.number }

    static func < (one: Self, other: Self) -> Bool {
        (one.start &+ one.cost, one.number) < (other.start &+ other.cost, other.number)
    }
}
