/// The results of all events in the order of their verdicts, until the client ends. With several
/// iterators, each result is given to one of them.
public struct ClientResults: AsyncSequence, Sendable {
    /// An event with its verdict.
    public typealias Element = SettledEvent

    let client: SightlineClient

    /// Creates an iterator, which continues where the last one ended.
    public func makeAsyncIterator() -> Iterator { Iterator(client: self.client) }

    /// Takes the results from the client.
    public struct Iterator: AsyncIteratorProtocol {
        let client: SightlineClient

        /// The next result; nil after the client's end, or if the task is cancelled.
        public mutating func next() async -> SettledEvent? {
            guard let (ticket, result) = await self.client.nextResult() else { return nil }
            return SettledEvent(number: ticket.number, result: ticket.named(result))
        }
    }
}
