package import SinkKit

extension ErasurePiece {
    /// The result once all pieces were done, with nothing in between.
    package func end() async -> Erasure {
        await self.end { _ in }
    }

    /// The result once all pieces were done.
    ///
    /// - Parameter between: called before each further piece, with the number of those before it.
    package func end(
        _ between: (Int) async throws -> Void
    ) async rethrows -> Erasure {
        var (piece, count) = (self, 1)
        while true {
            switch piece {
            case .last(let erasure): return erasure
            case .followed(let next):
                try await between(count)
                piece = await next()
                count += 1
            }
        }
    }
}
