// changes/list, changes/read, changes/undo.

#include "handlers.hpp"

namespace cellgate::service {

void add_change_handlers(SidecarServices& sidecar, Client& client) {
    WorkspaceChanges* changes = &sidecar.changes;
    client.peer.on_request<protocol::ChangesList>([changes, &sidecar, &client](protocol::ChangesParams params) {
        if (client.role != protocol::Role::user) {
            require_own_execution(sidecar, client, params.execution_id);
        }
        return changes->list(std::move(params));
    });
    client.peer.on_request<protocol::ChangesRead>(
        [changes](protocol::ChangesReadParams params) { return changes->read(std::move(params)); });
    client.peer.on_request<protocol::ChangesUndo>(
        [changes](protocol::ChangesUndoParams params) { return changes->undo(std::move(params)); });
}

} // namespace cellgate::service
