from django.core.management.commands.makemigrations import Command as BaseCommand

from jobsite.db.autodetector import Autodetector


class Command(BaseCommand):
    help = f"{BaseCommand.help} A change of a name, a help text or choices needs none."
    autodetector = Autodetector
