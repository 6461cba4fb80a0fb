/// What a piece of an erasure has come to. Whatever has to search much erases in pieces of some 20
/// ms. Between two of them it is free for others: a sink delivers, retention deletes, the server
/// may stop. So a piece looks anew at what is there, and passes on no more than its place in it.
package enum ErasurePiece: Sendable {
    /// It was the last one: the result of all.
    case last(Erasure)
    /// Another one follows.
    case followed(by: @Sendable () async -> ErasurePiece)
}

extension ErasurePiece {
    /// Erases rows of a file, from the newest to the oldest. Rows that come meanwhile are made
    /// without the subject, and not searched: where they come faster than they can be searched, the
    /// erasure would never end.
    ///
    /// - Parameters:
    ///   - place: the id before which to search.
    ///   - erased: how many rows were erased down to there.
    ///   - erase: erases rows before an id. Returns how many it erased, and the id of the last row
    ///     that it searched, or nil if there was none.
    ///   - end: is the last piece, such as emptying a log.
    package static func ofRows(
        before place: Int64 = .max, erased: Int = 0,
        _ erase: @escaping @Sendable (Int64) async throws -> (erased: Int, last: Int64?),
        end: @escaping @Sendable () async throws -> Void
    ) async -> ErasurePiece {
        do {
            let piece = try await erase(place)
            let sum = erased + piece.erased
            guard let last = piece.last else { return .followed { await Self.ending(sum, end) } }
            return .followed {
                await Self.ofRows(before: last, erased: sum, erase, end: end)
            }
        } catch {
            return .last(.failed("\(error)"))
        }
    }

    private static func ending(
        _ erased: Int, _ end: @Sendable () async throws -> Void
    ) async -> ErasurePiece {
        do {
            try await end()
            return .last(.erased(erased))
        } catch {
            return .last(.failed("\(error)"))
        }
    }
}
