from jobsite.accounts import roles
from jobsite.ops.commands import Command as BaseCommand


class Command(BaseCommand):
    help = "Create the roles as groups, or reset their permissions."

    def handle(self, *args: object, **options: object) -> None:
        changed = roles.create()
        summary = f"Set {', '.join(changed)}." if changed else "Nothing changed."
        self.finish(summary, changed=changed, roles=list(roles.NAMES))
